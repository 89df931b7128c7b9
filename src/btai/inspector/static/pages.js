// The views of the page, in their order: what each is called, how the help describes it, and what draws it.

import { Slice } from "./views/slice.js";
import { Trials } from "./views/trials.js";
import { Visualisation } from "./views/visualisation.js";
import { WhatIf } from "./views/what-if.js";
import { Why } from "./views/why.js";

/** @typedef {{name: string, about: string, View: () => any}} Page */

/** @type {Record<string, Page>} by what the address calls them; the first is where one begins */
export const PAGES = {
    visualisation: {
        name: "Visualisation",
        about: "The environment and the tree. Click a child to go there, click the node itself to open its slice. The node "
            + "with the red frame was expanded last, green is the best action, orange is not expanded yet.",
        View: Visualisation,
    },
    slice: {
        name: "Temporal slice",
        about: "What the agent believes at a node, now or in an imagined future, and what that future costs.",
        View: Slice,
    },
    why: { name: "Why", about: "The chosen action against any other: when they parted, and which term decided.", View: Why },
    "what-if": { name: "What if", about: "Other observations, more planning, another action: both outcomes side by side.", View: WhatIf },
    trials: { name: "Trials", about: "All trials of the run, each to be opened at its worst cycle.", View: Trials },
};

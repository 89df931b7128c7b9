// The temporal slice of a node: the paper's six widgets.

import { useApp } from "../app-context.js";
import { LikelihoodGraph, likelihoodTable } from "../graph/likelihood.js";
import { PreferenceGraph, preferenceTable } from "../graph/preferences.js";
import { TransitionGraph, transitionTable } from "../graph/transition.js";
import { sliceName } from "../lib/format.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { namesTo } from "../tree/near.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";
import { Waiting } from "../ui/waiting.js";
import { Beliefs } from "./beliefs.js";
import { Efe } from "./efe.js";
import { NodeFacts } from "./facts.js";
import { Messages, chosenMessage } from "./messages.js";
import { Trail } from "./trail.js";

/** @typedef {{width: number, height: number}} Size */

export function Slice() {
    const app = useApp();
    const { trial, cycle, node } = app.cursor;
    const { value: slice, stale, error } = useData("node", { trial, cycle, node });
    if (error) return html`<p class="empty">${error.message}</p>`;
    if (!slice) return html`<${Waiting} />`;
    return html`<div class="slice" data-node=${slice.node}>
        <${Trail} />
        <div class="widgets">
            <${Likelihood} slice=${slice} />
            <${Transition} />
            <${Preferences} slice=${slice} />
            <${Beliefs} slice=${slice} busy=${stale} />
            <${NodeFacts} name=${sliceName(namesTo(app, node))} />
            ${slice.efe ? html`<${Efe} slice=${slice} busy=${stale} />` : html`<${Messages} slice=${slice} busy=${stale} />`}
        </div>
    </div>`;
}

/** @param {{slice: Api.Node}} props */
function Likelihood({ slice }) {
    const app = useApp();
    const { info, loaded, place } = app;
    const { inference } = slice;
    const carries = inference?.graph === "factors";
    const observed = (/** @type {string} */ name) => Boolean(inference && loaded?.cycle.evidence[name]);
    const note = inference
        ? html`<span data-tip=${inference.reason}>${inference.exact ? "exact inference" : "approximate inference"}</span>
              <span class="inline-key apart"><i class="key key-observed"></i>observed</span>`
        : "predicted slice";
    return html`<${Figure} name="likelihood" title="Likelihood" note=${note} table=${() => likelihoodTable(info.model)}
        python=${pythonFor(app, "likelihood")}>
        <${Measured} scroll=${true}>${(/** @type {Size} */ size) => html`<${LikelihoodGraph} ...${size}
            shown=${place.state} message=${carries ? chosenMessage(app, inference) : undefined} observed=${observed}
            onVariable=${(/** @type {string} */ state) => app.go({ state })}
            onEdge=${carries ? (/** @type {string} */ a, /** @type {string} */ b) => app.go({ edge: `${a}>${b}` }) : null} />`}<//>
    <//>`;
}

function Transition() {
    const app = useApp();
    return html`<${Figure} name="transition" title="Transition" table=${() => transitionTable(app.info.model)} python=${pythonFor(app, "transition")}
        note=${html`<span class="inline-key"><i class="key key-moved"></i>depends on the action</span>`}>
        <${Measured} scroll=${true}>${(/** @type {Size} */ size) => html`<${TransitionGraph} ...${size} shown=${app.place.state}
            onVariable=${(/** @type {string} */ state) => app.go({ state })} />`}<//>
    <//>`;
}

/** @param {{slice: Api.Node}} props */
function Preferences({ slice }) {
    const app = useApp();
    return html`<${Figure} name="preferences" title="Prior preferences" table=${() => preferenceTable(app.info.model)} python=${pythonFor(app, "preferences")}>
        <${Measured} scroll=${true}>${(/** @type {Size} */ size) => html`<${PreferenceGraph} ...${size} shown=${app.place.state}
            onVariable=${(/** @type {string} */ state) => app.go({ state })}
            onGroup=${slice.efe ? (/** @type {string} */ part) => app.go({ part }) : null} />`}<//>
    <//>`;
}

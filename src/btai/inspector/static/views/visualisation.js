// The paper's visualisation frame: the environment, the buttons, the tree around the current node, the whole tree.

import { useApp } from "../app-context.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { NearTree } from "../tree/near.js";
import { WholeTree } from "../tree/whole.js";
import { Figure } from "../ui/figure.js";
import { Num } from "../ui/number.js";
import { breakable } from "../ui/words.js";
import { Controls } from "./controls.js";
import { OccupancyControls, Scene, occupancyChoice, occupancyTable, sceneAsSvg } from "./occupancy.js";

export function Visualisation() {
    const app = useApp();
    const { trial, cycle } = app.cursor;
    const { value, stale } = useData("facts", app.cursor);
    const facts = value?.trial === trial && value.cycle === cycle ? value : undefined; // a stale one may be of another tree
    return html`<div class="visualisation">
        <${Environment} facts=${facts} busy=${stale} />
        <${NearTree} facts=${facts} busy=${stale} />
        <${WholeTree} facts=${facts} />
    </div>`;
}

/** @param {{facts: Api.Facts | undefined, busy: boolean}} props */
function Environment({ facts, busy }) {
    const app = useApp();
    const { cursor, loaded } = app;
    const cycle = /** @type {Api.Cycle} */ (loaded?.cycle);
    const { pair, node } = occupancyChoice(app, facts);
    const { trial, cycle: t } = cursor;
    const { value: map, stale } = useData("occupancy", facts && pair ? { trial, cycle: t, node, x: pair[0], y: pair[1] } : null);
    const python = pair ? pythonFor(app, "occupancy", { node, x: pair[0], y: pair[1] }) : pythonFor(app, "evidence");
    return html`<div class="environment">
        <${Figure}
            name="environment"
            title="Environment"
            note=${html`trial ${trial}, cycle <b data-id="cycle">${t}</b>`}
            choice=${html`<${OccupancyControls} facts=${facts} />`}
            table=${() => (map ? occupancyTable(map) : observedTable(cycle))}
            python=${python}
            busy=${busy || stale}
            drawing=${cycle.image || pair ? sceneAsSvg : null}
        >
            <${Scene} facts=${facts} image=${cycle.image} />
            <dl class="facts compact">
                <dt>reward</dt>
                <dd><${Num} value=${cycle.reward} id="reward" /></dd>
                ${Object.entries(cycle.observed).map(([name, value]) => html`<dt>${breakable(name)}</dt><dd>${value}</dd>`)}
            </dl>
        <//>
        <div class="panel"><${Controls} /></div>
    </div>`;
}

/** @param {Api.Cycle} cycle */
function observedTable({ reward, observed }) {
    return {
        caption: "What the environment gave and showed",
        columns: ["", "value"],
        rows: [["reward", reward], ...Object.entries(observed)],
    };
}

// What the tree search knows of a node, with the UCT criterion filled in.

import { useApp } from "../app-context.js";
import { short } from "../lib/format.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { Figure } from "../ui/figure.js";
import { Num } from "../ui/number.js";

/** @param {{name: string}} props */
export function NodeFacts({ name }) {
    const app = useApp();
    const { value, stale, error } = useData("facts", app.cursor);
    const facts = value?.facts;
    return html`<${Figure} name="facts" title="Tree search" note=${`iteration ${app.cursor.iteration}`} busy=${stale} drawing=${null}
        table=${() => factsTable(value)} python=${pythonFor(app, "facts")}>
        ${error && html`<p class="empty">${error.message}</p>`}
        ${value && facts && html`<div class="node-facts">
            <dl class="facts">
                <dt>slice</dt><dd>${name}</dd>
                <dt>action</dt><dd>${facts.action_name ?? "none: the root"}</dd>
            </dl>
            <dl class="facts in-pairs">
                <dt>visits</dt><dd><${Num} value=${facts.visits} id="visits" /></dd>
                <dt title="expected free energy">own EFE</dt><dd><${Num} value=${facts.efe} id="efe" /></dd>
                <dt>cost</dt><dd><${Num} value=${facts.cost} id="cost" /></dd>
                <dt>mean cost</dt><dd><${Num} value=${facts.mean_cost} id="mean_cost" /></dd>
                <dt>exploration</dt><dd><${Num} value=${facts.exploration} id="exploration" /></dd>
                <dt>UCT</dt><dd><${Num} value=${facts.uct} id="uct" /></dd>
            </dl>
            ${facts.uct === null
                ? html`<p class="quiet">The root is where each iteration begins. Its children compete by the UCT criterion.</p>`
                : html`<${Formula} facts=${facts} weight=${value.exp_const} />`}
        </div>`}
    <//>`;
}

/** @param {{facts: Api.Fact, weight: number}} props */
function Formula({ facts, weight }) {
    const root = (/** @type {any} */ under) => html`<span class="root"><span class="root-sign">√</span><span class="root-under">${under}</span></span>`;
    const over = (/** @type {any} */ top, /** @type {any} */ bottom) => html`<span class="fraction"><span>${top}</span><span>${bottom}</span></span>`;
    const label = `UCT is minus cost over visits plus the exploration constant times the root of the logarithm of the parent's visits over visits: ${short(facts.uct)}`;
    return html`<div class="formula" role="img" aria-label=${label} data-tip="N: visits of the parent. C: the exploration constant.">
        <div><i>UCT</i> <span>=</span> <span>−</span>${over("cost", "visits")} <span>+</span> <i>C</i> ${root(over(html`ln <i>N</i>`, "visits"))}</div>
        <div><span class="indent">=</span> <span>−</span>${over(short(facts.cost), facts.visits)} <span>+</span> ${short(weight)} ${root(over(html`ln ${facts.parent_visits}`, facts.visits))}</div>
        <div><span class="indent">=</span> ${short(facts.mean_cost === null ? null : -facts.mean_cost)} <span>+</span> ${short(facts.exploration)} <span>=</span> <b>${short(facts.uct)}</b></div>
    </div>`;
}

/** @param {Api.Facts | undefined} value */
function factsTable(value) {
    const facts = value?.facts;
    const rows = facts
        ? [
              ["node", facts.node],
              ["action", facts.action_name],
              ["visits", facts.visits],
              ["visits of the parent", facts.parent_visits],
              ["cost", facts.cost],
              ["mean cost", facts.mean_cost],
              ["expected free energy", facts.efe],
              ["exploration", facts.exploration],
              ["UCT", facts.uct],
          ]
        : [];
    return { caption: "Tree search facts of the node", columns: ["", "value"], rows };
}

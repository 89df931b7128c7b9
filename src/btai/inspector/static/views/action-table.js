// All actions of a choice with what the search found about them.

import { useApp } from "../app-context.js";
import { html } from "../lib/html.js";
import { firstOf } from "../lib/format.js";
import { CopyButton } from "../ui/copy.js";
import { Num } from "../ui/number.js";
import { breakable } from "../ui/words.js";

const STEPS = 3; // shown of what comes after an action

/**
 * @param {object} props
 * @param {Api.ActionSummary[]} props.actions
 * @param {number | null} props.chosen
 * @param {number} [props.against]
 * @param {boolean} [props.busy]
 * @param {string} [props.python]
 */
export function ActionTable({ actions, chosen, against, busy = false, python }) {
    const app = useApp();
    const verdict = (/** @type {number} */ action) => (action === chosen ? "chosen" : action === against ? "compared" : "");
    return html`<section class="panel action-table" aria-busy=${busy} data-figure="actions">
        <header class="panel-head"><h2>The actions</h2><span class="note">choose one to compare with</span>
            <span class="panel-tools">${python && html`<${CopyButton} class="quiet-button" text=${python}>Copy as Python<//>`}</span></header>
        <div class="table-scroll" tabindex="0" role="region" aria-label="The actions">
            <table class="data">
                <thead><tr><th scope="col">action</th><th scope="col"></th><th scope="col" class="numeric">visits</th><th scope="col" class="numeric">mean cost</th>
                    <th scope="col" class="numeric">exploration</th><th scope="col" class="numeric">UCT</th><th scope="col" class="numeric">own EFE</th>
                    <th scope="col" data-tip="What the search likes best after the action">then</th></tr></thead>
                <tbody>${actions.map(({ action, name, visits, mean_cost: cost, exploration, uct, efe, then }) => html`
                    <tr class=${action === chosen ? "marked" : ""} data-action=${action}>
                        <th scope="row">${action === chosen ? breakable(name) : html`<button class="link" onClick=${() => app.go({ against: String(action) })}>${breakable(name)}</button>`}</th>
                        <td class="verdict-word">${verdict(action)}</td>
                        <td class="numeric"><${Num} value=${visits} /></td>
                        <td class="numeric"><${Num} value=${cost} decimals=${3} /></td>
                        <td class="numeric"><${Num} value=${exploration} decimals=${3} /></td>
                        <td class="numeric"><${Num} value=${uct} decimals=${3} /></td>
                        <td class="numeric"><${Num} value=${efe} decimals=${3} /></td>
                        <td class="then" title=${then.join(", ")}>${firstOf(then, STEPS)}</td>
                    </tr>`)}</tbody>
            </table>
        </div>
    </section>`;
}

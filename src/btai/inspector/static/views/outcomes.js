// Two outcomes of one decision, side by side: as it was, and as it would have been.

import { useApp } from "../app-context.js";
import { Bars, BarsLegend } from "../charts/bars.js";
import { digitsApart, firstOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { CopyButton } from "../ui/copy.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";
import { Num } from "../ui/number.js";
import { breakable } from "../ui/words.js";

const PLAN = 8;

/** @param {{original: Api.Outcome, altered: Api.Outcome, busy: boolean, stale: boolean, python?: string}} props */
export function Outcomes({ original, altered, busy, stale, python }) {
    return html`<div class=${stale ? "outcomes of-before" : "outcomes"} aria-busy=${busy}>
        <${Summary} original=${original} altered=${altered} stale=${stale} python=${python} />
        <${Choice} original=${original} altered=${altered} />
        <${Comparison} original=${original} altered=${altered} />
    </div>`;
}

/** @param {{original: Api.Outcome, altered: Api.Outcome, stale: boolean, python?: string}} props */
function Summary({ original, altered, stale, python }) {
    const row = (/** @type {string} */ label, /** @type {(outcome: Api.Outcome) => any} */ show, /** @type {(outcome: Api.Outcome) => any} */ of) => {
        const [ours, theirs] = [of(original), of(altered)];
        const differs = typeof ours === "number" && typeof theirs === "number"
            ? digitsApart(ours, theirs) !== null
            : JSON.stringify(ours) !== JSON.stringify(theirs);
        return html`<tr class=${differs ? "differs" : ""}><th scope="row">${label}</th><td>${show(original)}</td><td>${show(altered)}</td>
            <td class="verdict-word">${differs ? "changed" : ""}</td></tr>`;
    };
    const number = (/** @type {(outcome: Api.Outcome) => number | null | undefined} */ of, /** @type {string} */ id) => (/** @type {Api.Outcome} */ outcome) => {
        const digits = digitsApart(of(original) ?? NaN, of(altered) ?? NaN) ?? undefined;
        return html`<${Num} value=${of(outcome)} digits=${digits} id=${`${outcome === original ? "original" : "altered"}-${id}`} />`;
    };
    const evidence = (/** @type {Api.Outcome} */ { log_evidence: value }) => value;
    const after = (/** @type {Api.Outcome} */ outcome) => outcome.after?.efe.total;
    const plan = (/** @type {Api.Outcome} */ { plan_names: names }) => firstOf(names, PLAN);
    const chosen = (/** @type {Api.Outcome} */ outcome) => html`<b>${outcome.chosen_name ?? "none"}</b>${outcome.forced ? " (forced)" : ""}`;
    return html`<section class="panel" data-figure="outcomes">
        <header class="panel-head"><h2>What happens</h2><span class="note" role="status">${stale ? "from before your changes" : ""}</span>
            <span class="panel-tools">${python && html`<${CopyButton} class="quiet-button" text=${python}>Copy as Python<//>`}</span></header>
        <table class="data comparison">
            <thead><tr><th></th><th scope="col">as it was</th><th scope="col">what if</th><th></th></tr></thead>
            <tbody>
                ${row("action", chosen, (outcome) => outcome.chosen)}
                ${row("best path", plan, (outcome) => outcome.plan)}
                ${row("log evidence", number(evidence, "log_evidence"), evidence)}
                ${row("EFE of the next slice", number(after, "efe"), after)}
                ${row("planning iterations", number(({ iterations }) => iterations, "iterations"), ({ iterations }) => iterations)}
                ${row("exploration constant", number((outcome) => outcome.exp_const, "exp_const"), (outcome) => outcome.exp_const)}
            </tbody>
        </table>
    </section>`;
}

/** @param {{original: Api.Outcome, altered: Api.Outcome}} props */
function Choice({ original, altered }) {
    const names = useApp().info.model.action.values;
    const fields = (/** @type {Api.Outcome} */ { actions, chosen }, /** @type {number} */ action) => html`
        <td class="numeric"><${Num} value=${actions[action]?.visits} /></td>
        <td class="numeric"><${Num} value=${actions[action]?.mean_cost} decimals=${3} /></td>
        <td class="verdict-word">${action === chosen ? "chosen" : ""}</td>`;
    return html`<section class="panel" data-figure="outcome-actions">
        <header class="panel-head"><h2>The actions</h2></header>
        <div class="table-scroll" tabindex="0" role="region" aria-label="The actions in both outcomes"><table class="data">
            <thead>
                <tr><th></th><th scope="colgroup" colspan="3">as it was</th><th scope="colgroup" colspan="3">what if</th></tr>
                <tr><th scope="col">action</th>${[0, 1].map(() => html`<th scope="col" class="numeric">visits</th><th scope="col" class="numeric">mean cost</th><th></th>`)}</tr>
            </thead>
            <tbody>${names.map((name, action) => html`<tr data-action=${action}><th scope="row">${breakable(name)}</th>${fields(original, action)}${fields(altered, action)}</tr>`)}</tbody>
        </table></div>
    </section>`;
}

/** @param {{original: Api.Outcome, altered: Api.Outcome}} props */
function Comparison({ original, altered }) {
    const app = useApp();
    const { states } = app.info.model;
    const state = states.find(({ name }) => name === app.place.state) ?? states.find(({ name }) => differ(original.posterior[name], altered.posterior[name])) ?? states[0];
    const when = app.place.when === "after" ? "after" : "now";
    const beliefs = (/** @type {Api.Outcome} */ { posterior, after }) => (when === "now" ? posterior : after?.beliefs)?.[state.name];
    const [ours, theirs] = [beliefs(original), beliefs(altered)];
    const title = when === "now" ? "Posterior" : "Prediction";
    return html`<${Figure} name="outcome-beliefs" title=${title}
        table=${() => ({
            caption: `${title} of ${state.name}`,
            columns: [state.name, "as it was", "what if"],
            rows: state.values.map((value, i) => [value, ours?.[i], theirs?.[i]]),
        })}
        choice=${html`<div class="chart-choice"><select aria-label="State whose posterior is compared" value=${state.name}
            onChange=${(/** @type {Event} */ e) => app.go({ state: /** @type {HTMLSelectElement} */ (e.target).value })}>
            ${states.map(({ name }) => html`<option value=${name}>${name}</option>`)}
        </select>
        <select class="narrow" aria-label="Beliefs of when" value=${when}
            onChange=${(/** @type {Event} */ e) => app.go({ when: /** @type {HTMLSelectElement} */ (e.target).value })}>
            <option value="now">now</option><option value="after">after the action</option>
        </select></div>`}>
        ${theirs
            ? html`<${Measured}>${(/** @type {{width: number, height: number}} */ size) => html`<${Bars} ...${size} values=${theirs} ghost=${ours}
                  ghostName="as it was" labels=${state.values} label=${`${title} of ${state.name}, as it was and what if`} />`}<//>
                  <${BarsLegend} name="what if" ghostName="as it was" />`
            : html`<p class="empty">No action is chosen here.</p>`}
    <//>`;
}

/** @param {number[]} a @param {number[]} b */
function differ(a, b) {
    return a.some((value, i) => Math.abs(value - b[i]) > 1e-9);
}

// The beliefs over one variable of a slice, with what they were before as a ghost.

import { useApp } from "../app-context.js";
import { Bars, BarsLegend } from "../charts/bars.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";

/** @param {{slice: Api.Node, busy: boolean}} props */
export function Beliefs({ slice, busy }) {
    const app = useApp();
    const { states, observations } = app.info.model;
    const variable = [...states, ...observations].find(({ name }) => name === app.place.state) ?? states[0];
    const shown = distribution(app, slice, variable.name);
    const choose = (/** @type {Event} */ event) => app.go({ state: /** @type {HTMLSelectElement} */ (event.target).value });
    const group = (/** @type {string} */ label, /** @type {Api.Variable[]} */ variables) =>
        html`<optgroup label=${label}>${variables.map(({ name }) => html`<option value=${name}>${name}</option>`)}</optgroup>`;
    return html`<${Figure}
        name="beliefs"
        title=${shown.name}
        busy=${busy}
        table=${() => ({
            caption: `${shown.name} of ${variable.name}`,
            columns: [variable.name, shown.name, ...(shown.ghost ? [shown.ghostName] : [])],
            rows: variable.values.map((value, i) => [value, shown.values?.[i], ...(shown.ghost ? [shown.ghost[i]] : [])]),
        })}
        python=${shown.python && pythonFor(app, shown.python, { state: variable.name, observation: variable.name })}
        choice=${html`<div class="chart-choice"><select aria-label="Variable whose beliefs are shown" value=${variable.name} onChange=${choose}>
            ${group("States", states)} ${group("Observations", observations)}
        </select></div>`}
    >
        ${shown.values
            ? html`<${Measured}>${(/** @type {{width: number, height: number}} */ size) => html`<${Bars} ...${size} values=${shown.values} ghost=${shown.ghost}
                  ghostName=${shown.ghostName} labels=${variable.values} label=${`${shown.name} of ${variable.name}`} />`}<//>
                  <${BarsLegend} name=${shown.name.toLowerCase()} ghostName=${shown.ghost && shown.ghostName} />`
            : html`<p class="empty">${variable.name} was not observed in this cycle.</p>`}
    <//>`;
}

/**
 * What there is to show of a variable.
 * @param {import("../session.js").Session} app
 * @param {Api.Node} slice
 * @param {string} name
 * @returns {{name: string, values?: number[] | null, ghost?: number[], ghostName: string, python?: string}}
 */
function distribution({ loaded }, slice, name) {
    const values = slice.beliefs[name];
    if (values && slice.before.what === "prior") {
        return { name: "Posterior", values, ghost: slice.before.beliefs[name], ghostName: "prior", python: "beliefs" };
    }
    if (values) {
        return { name: "Predicted beliefs", values, ghost: slice.before.beliefs[name], ghostName: "one step before", python: "beliefs" };
    }
    if (slice.observations) return { name: "Predicted observation", values: slice.observations[name], ghostName: "", python: "observation" };
    return { name: "Evidence", values: loaded?.cycle.evidence[name], ghostName: "", python: "evidence" };
}

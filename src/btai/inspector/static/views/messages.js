// The messages of the inference step at the present slice: any edge, in either direction.

import { useApp } from "../app-context.js";
import { Bars, BarsLegend } from "../charts/bars.js";
import { CliqueTree, cliqueHeight } from "../graph/cliques.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { Figure } from "../ui/figure.js";
import { Icon } from "../ui/icons.js";
import { Measured } from "../ui/measured.js";
import { Num } from "../ui/number.js";

/** @typedef {{width: number, height: number}} Size */

/**
 * The message that the address names; without one, what an observation says to the state whose beliefs are shown.
 * @param {import("../session.js").Session} app
 * @param {Api.Inference | null} inference
 */
export function chosenMessage({ info, place }, inference) {
    const messages = inference?.messages ?? [];
    const { factors, states } = info.model;
    const state = states.find(({ name }) => name === place.state) ?? states[0];
    const seen = factors.filter(({ observation, variables }) => observation && variables.includes(state.name)).map(({ name }) => name);
    return messages.find(({ source, target }) => `${source}>${target}` === place.edge)
        ?? messages.find(({ source, target }) => target === state.name && seen.includes(source)) ?? messages[0];
}

/** @param {{slice: Api.Node, busy: boolean}} props */
export function Messages({ slice, busy }) {
    const app = useApp();
    const inference = /** @type {Api.Inference} */ (slice.inference);
    const message = chosenMessage(app, inference);
    const go = (/** @type {string} */ source, /** @type {string} */ target) => app.go({ edge: `${source}>${target}` });
    const words = message && { source: message.source, target: message.target };
    return html`<${Figure} name="message" title="Message" busy=${busy}
        note=${html`log evidence <${Num} value=${inference.log_evidence} id="log_evidence" />`}
        choice=${message && html`<${Choice} inference=${inference} message=${message} />`}
        table=${() => messageTable(app, message)} drawing=${barsOf} python=${words && pythonFor(app, "message", words)}>
        ${message ? html`<div class="message">
            ${inference.graph === "cliques" && html`<div class="clique-tree" style=${{ flexBasis: `${cliqueHeight(inference.messages)}px` }}><${Measured} scroll=${true}>${(/** @type {Size} */ size) =>
                html`<${CliqueTree} ...${size} inference=${inference} message=${message} onEdge=${go} />`}<//></div>`}
            <${Measured}>${(/** @type {Size} */ size) => html`<${Bars} ...${size} values=${message.values} labels=${labelsOf(app, message)}
                label=${`Message from ${message.source} to ${message.target}`} />`}<//>
            <${BarsLegend} name=${`over ${message.variables.join(", ")}`} />
        </div>` : html`<p class="empty">No messages: ${inference.reason}</p>`}
    <//>`;
}

/** The bars, and not the junction tree above them. @param {Element} figure @returns {SVGSVGElement | null} */
function barsOf(figure) {
    return figure.querySelector("svg.chart:not(.graph)");
}

/** @param {{inference: Api.Inference, message: Api.Message}} props */
function Choice({ inference, message }) {
    const app = useApp();
    const choose = (/** @type {Event} */ event) => app.go({ edge: /** @type {HTMLSelectElement} */ (event.target).value });
    return html`<div class="chart-choice">
        <select aria-label="Message that is shown" value=${`${message.source}>${message.target}`} onChange=${choose}>
            ${inference.messages.map(({ source, target }) => html`<option value=${`${source}>${target}`}>${source} → ${target}</option>`)}
        </select>
        <button class="icon-button" aria-label="The message in the other direction" data-tip="The other direction"
            onClick=${() => app.go({ edge: `${message.target}>${message.source}` })}><${Icon} name="swap" /></button>
    </div>`;
}

/**
 * The joint values a message is about, the last variable varying fastest.
 * @param {import("../session.js").Session} app
 * @param {Api.Message} message
 * @returns {string[]}
 */
function labelsOf({ info }, { variables, shape }) {
    const all = [...info.model.states, ...info.model.observations];
    const values = variables.map((name, axis) => all.find((variable) => variable.name === name)?.values ?? Array.from({ length: shape[axis] }, (_, i) => String(i)));
    return values.reduce((heads, tails) => heads.flatMap((head) => tails.map((tail) => (head ? `${head}, ${tail}` : tail))), [""]);
}

/** @param {import("../session.js").Session} app @param {Api.Message | undefined} message */
function messageTable(app, message) {
    if (!message) return { caption: "No message", columns: [], rows: [] };
    const labels = labelsOf(app, message);
    return {
        caption: `Message from ${message.source} to ${message.target}`,
        columns: [message.variables.join(", "), "message"],
        rows: message.values.map((value, i) => [labels[i], value]),
    };
}

// The likelihood model as a factor graph: observations above, their factors, the states, and the states' priors below.

import { useApp } from "../app-context.js";
import { spread } from "../charts/lines.js";
import { shortNames } from "../lib/format.js";
import { html } from "../lib/html.js";
import { Edge, Factor, LINE, RADIUS, Variable, between, mostLines } from "./marks.js";

const LEAST_COLUMN = 54;
const LEAST_HEIGHT = 210;
const HALF_FACTOR = 8;

/**
 * @param {object} props
 * @param {number} props.width
 * @param {number} props.height
 * @param {string | undefined} props.shown the variable whose beliefs are shown
 * @param {Api.Message | undefined} props.message the one shown
 * @param {(name: string) => void} props.onVariable
 * @param {((source: string, target: string) => void) | null} props.onEdge `null`: edges carry no messages here
 * @param {(name: string) => boolean} props.observed
 */
export function LikelihoodGraph({ width, height, shown, message, onVariable, onEdge, observed }) {
    const { model } = useApp().info;
    const short = shortNames(model);
    const columns = Math.max(model.states.length, model.observations.length);
    const wide = Math.max(width, columns * LEAST_COLUMN);
    const tall = Math.max(height, LEAST_HEIGHT);
    const { state, observation } = places(model, wide, wide / columns);
    const room = wide / columns - 6;
    const head = 10 + LINE * mostLines(model.observations.map(({ name }) => name), room);
    const foot = RADIUS + 4 + LINE * mostLines(model.states.map(({ name }) => name), room); // below a state, for its name
    const y = { observation: head + RADIUS, likelihood: 0, state: tall - foot - 44, prior: tall - 12 };
    y.likelihood = (y.observation + y.state) / 2;

    const edge = (/** @type {string} */ variable, /** @type {string} */ factor, /** @type {number[]} */ at, /** @type {number[]} */ factorAt, away = RADIUS + 1) => {
        const { from, to } = between(factorAt, at, HALF_FACTOR, away);
        const outward = message?.source === factor && message.target === variable;
        const inward = message?.source === variable && message.target === factor;
        const pick = onEdge ? () => (inward ? onEdge(factor, variable) : onEdge(variable, factor)) : undefined;
        return html`<${Edge} name=${`${variable}>${factor}`} from=${inward ? to : from} to=${inward ? from : to} arrow=${outward || inward}
            style=${outward || inward ? "chosen" : ""} onPick=${pick} tip=${onEdge ? `Message between ${variable} and ${factor}` : undefined} />`;
    };
    const variable = (/** @type {Api.State | Api.Observation} */ { name, size, parents }, /** @type {"above" | "below"} */ side) => {
        const x = (side === "above" ? observation : state).get(name) ?? 0;
        const tip = side === "above" ? `${name}, ${size} values\ndepends on ${parents.join(", ") || "nothing"}` : `${name}, ${size} values`;
        return html`<${Variable} name=${name} short=${short.get(name)} x=${x} y=${side === "above" ? y.observation : y.state} side=${side}
            room=${room} tip=${tip} style=${`${observed(name) ? "observed" : ""} ${shown === name ? "chosen" : ""}`}
            onPick=${() => onVariable(name)} />`;
    };
    return html`<svg class="chart graph" width=${wide} height=${tall} role="group" aria-label="Factor graph of the likelihood model">
        ${model.factors.map(({ name, kind, observation: seen, variables }) => {
            const x = (kind === "prior" ? state.get(variables[0]) : observation.get(seen ?? "")) ?? 0;
            const here = [x, kind === "prior" ? y.prior : y.likelihood];
            const scope = kind === "prior" ? `prior of ${variables[0]}` : `P(${seen} | ${variables.join(", ")})`;
            return html`
                ${seen && edge(seen, name, [x, y.observation], here)}
                ${variables.map((parent) => edge(parent, name, [state.get(parent) ?? 0, y.state], here, kind === "prior" ? foot : undefined))}
                <${Factor} name=${name} x=${here[0]} y=${here[1]} tip=${`${name}: ${scope}`} />`;
        })}
        ${model.observations.map((one) => variable(one, "above"))}
        ${model.states.map((one) => variable(one, "below"))}
    </svg>`;
}

/**
 * Columns: states in order of declaration, observations over the middle of their parents.
 * @param {Api.Model} model
 * @param {number} wide
 * @param {number} column
 */
function places(model, wide, column) {
    const even = (/** @type {number} */ i, /** @type {number} */ n) => ((i + 0.5) * wide) / n;
    const state = new Map(model.states.map(({ name }, i) => [name, even(i, model.states.length)]));
    const wanted = model.observations.map(({ parents }, i) => {
        const below = parents.flatMap((parent) => state.get(parent) ?? []);
        return below.length ? below.reduce((a, b) => a + b, 0) / below.length : even(i, model.observations.length);
    });
    const xs = spread(wanted, column, [column / 2, wide - column / 2]);
    return { state, observation: new Map(model.observations.map(({ name }, i) => [name, xs[i]])) };
}

/** @param {Api.Model} model */
export function likelihoodTable(model) {
    return {
        caption: "Observations and priors, and what they depend on",
        columns: ["factor", "variable", "depends on", "values"],
        rows: [
            ...model.observations.map(({ name, parents, size }) => [`f_${name}`, name, parents.join(", "), size]),
            ...model.states.map(({ name, size }) => [`f_${name}`, name, "(prior)", size]),
        ],
    };
}

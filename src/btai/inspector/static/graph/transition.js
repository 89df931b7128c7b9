// The transition model: which states, and whether the action, each next state depends on.

import { useApp } from "../app-context.js";
import { bare, shortNames, textWidth } from "../lib/format.js";
import { html } from "../lib/html.js";
import { Edge, RADIUS, Variable, between } from "./marks.js";

const LEAST_ROW = 27;
const HEAD = 18;
const FOOT = 4;

/** @param {{width: number, height: number, shown: string | undefined, onVariable: (name: string) => void}} props */
export function TransitionGraph({ width, height, shown, onVariable }) {
    const { model } = useApp().info;
    const { action, states } = model;
    const short = shortNames(model);
    const rows = states.length + 1;
    const tall = Math.max(height, rows * LEAST_ROW + HEAD + FOOT);
    const step = (tall - HEAD - FOOT) / rows;
    const r = Math.min(RADIUS, 0.43 * step);
    const y = (/** @type {number} */ i) => HEAD + (i + 1.5) * step; // the action stands above the states
    const longest = Math.max(...[...states, action].map(({ name }) => textWidth(bare(name), 12)));
    const room = Math.min(longest + 4, width * 0.3);
    const beside = Math.max(room + RADIUS + 8, width * 0.3); // names that are short leave the graph in the middle
    const [left, right] = [beside, width - beside];
    const at = new Map([...states.map(({ name }, i) => /** @type {[string, number]} */ ([name, y(i)])), [action.name, y(-1)]]);
    const variable = (/** @type {string} */ name, /** @type {"left" | "right"} */ side, /** @type {string} */ style, /** @type {string} */ tip) =>
        html`<${Variable} name=${name} short=${short.get(name)} x=${side === "left" ? left : right} y=${at.get(name)} side=${side} room=${room} r=${r}
            style=${`${style} ${shown === name ? "chosen" : ""}`} tip=${tip} onPick=${name === action.name ? undefined : () => onVariable(name)} />`;
    const some = action.values.slice(0, 12).join(", ") + (action.size > 12 ? ", \u2026" : "");
    return html`<svg class="chart graph" width=${width} height=${tall} role="group" aria-label="Graph of the transition model">
        <text class="axis-text" x=${left} y="8" text-anchor="middle" dominant-baseline="central">now</text>
        <text class="axis-text" x=${right} y="8" text-anchor="middle" dominant-baseline="central">next</text>
        ${states.flatMap(({ name, parents }) => parents.map((parent) => html`<${Edge}
            style=${parent === action.name ? "from-action" : ""} tip=${`${name} depends on ${parent}`}
            ...${between([left, at.get(parent) ?? 0], [right, at.get(name) ?? 0], r + 2, r + 2)} />`))}
        ${states.map(({ name }) => variable(name, "left", "", name))}
        ${variable(action.name, "left", "action", `${action.name}, ${action.size} actions: ${some}`)}
        ${states.map(({ name, parents, moved }) => variable(name, "right", moved ? "moved" : "", `${name}\ndepends on ${parents.join(", ") || "nothing"}`))}
    </svg>`;
}

/** @param {Api.Model} model */
export function transitionTable(model) {
    return {
        caption: "What each next state depends on",
        columns: ["state", "depends on", "depends on the action"],
        rows: model.states.map(({ name, parents, moved }) => [name, parents.join(", "), moved ? "yes" : "no"]),
    };
}

// The prior preferences: one factor per group of observations. Observations in no group have no risk.

import { useApp } from "../app-context.js";
import { shortNames } from "../lib/format.js";
import { html } from "../lib/html.js";
import { Edge, Factor, RADIUS, Variable, between } from "./marks.js";

const LEAST_ROW = 30;
const MOST_ROW = 56;

/**
 * @param {object} props
 * @param {number} props.width
 * @param {number} props.height
 * @param {string | undefined} props.shown
 * @param {(name: string) => void} props.onVariable
 * @param {((part: string) => void) | null} props.onGroup `null`: there is no risk to take apart at the present slice
 */
export function PreferenceGraph({ width, height, shown, onVariable, onGroup }) {
    const { model } = useApp().info;
    const short = shortNames(model);
    const free = ungrouped(model);
    const rows = model.preferences.reduce((n, { observations }) => n + observations.length, free.length);
    const step = Math.max(LEAST_ROW, Math.min(MOST_ROW, height / Math.max(1, rows)));
    const tall = Math.max(height, rows * step);
    const r = Math.min(RADIUS, 0.43 * step);
    const top = (tall - rows * step) / 2;
    const [left, right] = [Math.max(44, width * 0.2), Math.max(150, width * 0.48)];
    let row = 0;
    const next = () => top + (row++ + 0.5) * step;
    const variable = (/** @type {string} */ name, /** @type {number} */ y, /** @type {string} */ style) =>
        html`<${Variable} name=${name} short=${short.get(name)} x=${right} y=${y} side="right" r=${r} room=${width - right - r - 12}
            style=${`${style} ${shown === name ? "chosen" : ""}`} onPick=${() => onVariable(name)} />`;
    return html`<svg class="chart graph" width=${width} height=${tall} role="group" aria-label="Graph of the prior preferences">
        ${model.preferences.map(({ part, observations, shape }, i) => {
            const ys = observations.map(next);
            const middle = (ys[0] + ys[ys.length - 1]) / 2;
            const tip = `Preference over ${observations.join(", ")}\n${shape.join(" × ")} values${onGroup ? "\nTake its risk apart" : ""}`;
            return html`
                ${ys.map((y) => html`<${Edge} ...${between([left, middle], [right, y], 12, r)} />`)}
                <${Factor} name=${part} x=${left} y=${middle} style="preference" tip=${tip} label=${`C${i + 1}`} onPick=${onGroup ? () => onGroup(part) : undefined} />
                ${observations.map((name, k) => variable(name, ys[k], ""))}`;
        })}
        ${free.map(({ name }) => {
            const y = next();
            return html`<text class="axis-text" x=${left} y=${y} text-anchor="middle" dominant-baseline="central">no preference</text>
                ${variable(name, y, "free")}`;
        })}
    </svg>`;
}

/** @param {Api.Model} model */
function ungrouped(model) {
    const grouped = new Set(model.preferences.flatMap(({ observations }) => observations));
    return model.observations.filter(({ name }) => !grouped.has(name));
}

/** @param {Api.Model} model */
export function preferenceTable(model) {
    return {
        caption: "Groups of observations with a joint preference",
        columns: ["group", "observations", "joint values"],
        rows: [
            ...model.preferences.map(({ observations, shape }, i) => [`C${i + 1}`, observations.join(", "), shape.join(" × ")]),
            ...ungrouped(model).map(({ name }) => ["none", name, ""]),
        ],
    };
}

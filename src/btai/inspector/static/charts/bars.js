// A distribution as bars, with another one as a ghost behind it: rows with names where they fit, else columns.

import { fitted, short, textWidth } from "../lib/format.js";
import { html } from "../lib/html.js";
import { every, linear } from "./scale.js";

const ROW = 36;
const LEAST_ROW = 19;
const FONT = 12;
const VALUE = 58; // room for a number

/**
 * @typedef {object} Bars
 * @property {ArrayLike<number>} values `[n]`
 * @property {ArrayLike<number>} [ghost] `[n]`
 * @property {string[]} labels `[n]`
 * @property {string} label for assistive technology
 * @property {string} [ghostName]
 * @property {number} [highest] of the scale; the largest value, if absent
 */

/** @param {Bars & {width: number, height: number}} props */
export function Bars(props) {
    return props.values.length * LEAST_ROW <= props.height ? html`<${Rows} ...${props} />` : html`<${Columns} ...${props} />`;
}

/** @param {Bars} props */
function tips({ values, ghost, labels, ghostName }) {
    return (/** @type {number} */ i) =>
        `${labels[i]}: ${short(values[i])}${ghost ? `\n${ghostName}: ${short(ghost[i])}` : ""}`;
}

/** @param {Bars} props */
function highestOf({ values, ghost, highest }) {
    return highest ?? Math.max(1e-12, ...Array.from(values), ...Array.from(ghost ?? []));
}

/** @param {Bars & {width: number, height: number}} props */
function Rows(props) {
    const { values, ghost, labels, label, width, height } = props;
    const step = Math.min(ROW, height / values.length);
    const names = Math.min(width * 0.42, Math.max(...labels.map((text) => textWidth(text, FONT))) + 4);
    const left = names + 8;
    const room = Math.max(10, width - left - VALUE);
    const top = highestOf(props);
    const tip = tips(props);
    const length = (/** @type {number} */ x) => Math.max(0, (x / top) * room);
    return html`<svg class="chart" width=${width} height=${step * values.length} role="img" aria-label=${label}>
        ${Array.from(values, (value, i) => html`<g transform=${`translate(0 ${i * step})`} data-tip=${tip(i)}>
            <rect class="hit" width=${width} height=${step} />
            <text class="axis-text" x=${names} y=${step / 2} text-anchor="end" dominant-baseline="central">
                ${fitted(labels[i], names, FONT)}
            </text>
            <rect class="bar" x=${left} y=${step * 0.22} width=${length(value)} height=${step * 0.56} rx="1.5" />
            ${ghost && html`<rect class="ghost" x=${left} y=${step * 0.1} width=${length(ghost[i])} height=${step * 0.8} rx="1.5" />`}
            <text class="value-text" x=${width - 4} y=${step / 2} text-anchor="end" dominant-baseline="central">${short(value)}</text>
        </g>`)}
    </svg>`;
}

/** @param {Bars & {width: number, height: number}} props */
function Columns(props) {
    const { values, ghost, labels, label, width, height } = props;
    const n = values.length;
    const scale = linear(0, highestOf(props), [height - 22, 8], 3);
    const left = Math.max(...scale.ticks.map((tick) => textWidth(tick.label, FONT))) + 8;
    const step = (width - left - 4) / n;
    const gap = step > 4 ? 0.16 : 0;
    const tip = tips(props);
    const base = scale(0);
    const widest = Math.min(72, Math.max(...labels.map((text) => textWidth(text, FONT))) + 8);
    const column = (/** @type {string} */ style, /** @type {number} */ value, /** @type {number} */ i, /** @type {number} */ inset) =>
        scale(value) < base - 0.5 && html`<rect class=${style} x=${left + (i + inset) * step} y=${scale(value)} width=${Math.max(0.5, step * (1 - 2 * inset))} height=${base - scale(value)} />`;
    return html`<svg class="chart" width=${width} height=${height} role="img" aria-label=${label}>
        ${scale.ticks.map(({ at, label: text }) => html`
            <line class="grid" x1=${left} x2=${width} y1=${scale(at)} y2=${scale(at)} />
            <text class="axis-text" x=${left - 6} y=${scale(at)} text-anchor="end" dominant-baseline="central">${text}</text>`)}
        ${Array.from(values, (value, i) => html`<g data-tip=${tip(i)}>
            <rect class="hit" x=${left + i * step} width=${step} height=${height} />
            ${column("bar", value, i, gap)} ${ghost && column("ghost", ghost[i], i, gap / 2)}
        </g>`)}
        ${every(n, step, widest).map((i) => html`
            <text class="axis-text" x=${left + (i + 0.5) * step} y=${height - 6} text-anchor="middle">${fitted(labels[i], widest, FONT)}</text>`)}
    </svg>`;
}

/** What the bars and the ghosts are. @param {{name: string, ghostName?: string}} props */
export function BarsLegend({ name, ghostName }) {
    return html`<p class="legend">
        <span><i class="swatch swatch-bar"></i>${name}</span>
        ${ghostName && html`<span><i class="swatch swatch-ghost"></i>${ghostName}</span>`}
    </p>`;
}

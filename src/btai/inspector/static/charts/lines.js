// Curves over planning iterations, named at their ends; two of them stand out.

import { fitted, short, textWidth } from "../lib/format.js";
import { html } from "../lib/html.js";
import { linear } from "./scale.js";

const FONT = 12;
const LINE = 14;
const NAMES = 0.3; // of the width, at most

/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {Float64Array | Int32Array} values `[N]`, after iteration 1 .. N
 * @property {"chosen" | "against" | "other"} role
 */

/**
 * @param {object} props
 * @param {Curve[]} props.curves
 * @param {number} props.iteration where the cursor is
 * @param {number | null} props.parted the iteration that is marked
 * @param {string} props.label
 * @param {number} props.width
 * @param {number} props.height
 * @param {boolean} props.whole whether the values are whole numbers
 * @param {(iteration: number) => void} props.onPick
 */
export function Lines({ curves, iteration, parted, label, width, height, whole, onPick }) {
    const n = curves[0]?.values.length ?? 0;
    const [low, high] = extent(curves);
    const crowded = curves.length * LINE > height - 42;
    const isNamed = (/** @type {Curve} */ { role }) => !crowded || role !== "other";
    const y = linear(low, high, [height - 24, 18], Math.max(2, Math.floor(height / 45)));
    const left = Math.max(...y.ticks.map((tick) => textWidth(tick.label, FONT))) + 10;
    const right = width - Math.min(width * NAMES, Math.max(...curves.filter(isNamed).map((curve) => textWidth(curve.name, FONT))) + 18);
    const x = (/** @type {number} */ k) => left + ((k - 1) / Math.max(1, n - 1)) * (right - left);
    const named = curves.filter(isNamed);
    const heights = spread(named.map((curve) => y(curve.values[n - 1])), LINE, [18, height - 24]);
    const pick = (/** @type {PointerEvent} */ event) => {
        const svg = /** @type {SVGElement} */ (event.currentTarget).getBoundingClientRect();
        const k = Math.round(1 + ((event.clientX - svg.left - left) / (right - left)) * (n - 1));
        onPick(Math.min(n, Math.max(1, k)));
    };
    return html`<svg class="chart lines" width=${width} height=${height} role="img" aria-label=${label} onClick=${pick}>
        ${y.ticks.filter(({ at }) => !whole || Number.isInteger(at)).map(({ at, label: text }) => html`
            <line class="grid" x1=${left} x2=${right} y1=${y(at)} y2=${y(at)} />
            <text class="axis-text" x=${left - 6} y=${y(at)} text-anchor="end" dominant-baseline="central">${text}</text>`)}
        ${linear(1, Math.max(2, n), [left, right], Math.max(2, Math.floor((right - left) / 90))).ticks
            .filter(({ at }) => at >= 1 && at <= n && Number.isInteger(at))
            .map(({ at }) => html`<text class="axis-text" x=${x(at)} y=${height - 6} text-anchor="middle">${at}</text>`)}
        ${parted !== null && html`<${Mark} x=${x(Math.max(1, parted))} height=${height} text=${`apart from ${parted} on`} style="parted" right=${right} />`}
        ${[...curves].sort((a, b) => RANK[a.role] - RANK[b.role]).map((curve) => html`
            <path class=${`curve curve-${curve.role}`} d=${path(curve.values, x, y)} data-tip=${ending(curve)} />`)}
        ${named.map((curve, i) => html`
            <text class=${`curve-name curve-name-${curve.role}`} x=${right + 6} y=${heights[i]} dominant-baseline="central" data-tip=${ending(curve)}>
                ${fitted(curve.name, width - right - 14, FONT)}
            </text>`)}
        ${iteration >= 1 && html`<line class="cursor-line" x1=${x(iteration)} x2=${x(iteration)} y1="14" y2=${height - 22} />`}
    </svg>`;
}

/** @param {{x: number, height: number, text: string, style: string, right: number}} props */
function Mark({ x, height, text, style, right }) {
    const flip = x + textWidth(text, FONT) + 8 > right;
    return html`<g class=${`mark mark-${style}`}>
        <line x1=${x} x2=${x} y1="14" y2=${height - 22} />
        <text x=${flip ? x - 4 : x + 4} y="9" text-anchor=${flip ? "end" : "start"} dominant-baseline="central">${text}</text>
    </g>`;
}

/** Those that stand out are drawn last. */
const RANK = { other: 0, against: 1, chosen: 2 };

/** @param {Curve} curve */
function ending({ name, values }) {
    return `${name}: ${short(values[values.length - 1])} at the end`;
}

/** @param {Curve[]} curves */
function extent(curves) {
    let low = Infinity;
    let high = -Infinity;
    for (const { values } of curves) {
        for (const value of values) {
            if (value < low) low = value;
            if (value > high) high = value;
        }
    }
    return Number.isFinite(low) ? [low, high] : [0, 1];
}

/**
 * At most a few points per pixel: of a crowd the first, the least, the greatest and the last.
 * @param {Float64Array | Int32Array} values
 * @param {(k: number) => number} x
 * @param {(value: number) => number} y
 */
function path(values, x, y) {
    const n = values.length;
    const crowd = Math.max(1, Math.floor(n / 800));
    const points = [];
    for (let from = 0; from < n; from += crowd) {
        const to = Math.min(n, from + crowd);
        let least = from;
        let most = from;
        for (let i = from; i < to; i++) {
            if (values[i] < values[least]) least = i;
            if (values[i] > values[most]) most = i;
        }
        for (const i of new Set([from, least, most, to - 1].sort((a, b) => a - b))) {
            points.push(`${x(i + 1).toFixed(1)} ${y(values[i]).toFixed(1)}`);
        }
    }
    return points.length ? `M${points.join("L")}` : "";
}

/**
 * Heights at least a line apart, as near to the wanted ones as that allows.
 * @param {number[]} wanted
 * @param {number} apart
 * @param {[number, number]} within
 */
export function spread(wanted, apart, [top, bottom]) {
    const gap = Math.min(apart, (bottom - top) / Math.max(1, wanted.length - 1));
    const order = [...wanted.keys()].sort((a, b) => wanted[a] - wanted[b]);
    const placed = [...wanted];
    let last = -Infinity;
    for (const i of order) last = placed[i] = Math.max(placed[i], last + gap, top);
    let next = bottom;
    for (const i of order.reverse()) {
        placed[i] = Math.min(placed[i], next);
        next = placed[i] - gap;
    }
    return placed;
}

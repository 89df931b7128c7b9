// How a sum comes about: one row per part, each bar beginning where the one before ended, and the sum below.

import { fitted, short, textWidth } from "../lib/format.js";
import { html } from "../lib/html.js";
import { linear } from "./scale.js";

const ROW = 28; // at most
const LEAST_ROW = 20;
const FONT = 12;
const VALUE = 66; // room for a number
const BOLD = 1.1; // how much wider bold letters are
const ROUNDING = 1e-12; // of the largest part: what is less is left over from rounding

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {number} value
 * @property {string} kind colours it: "risk", "ambiguity", "more", "less", "rest"
 * @property {string} [flag] a word beside the value
 * @property {string} [tip]
 * @property {() => void} [onPick] takes it apart further
 */

/** How many parts can be seen at once, with their sum below. @param {number} height */
export function partsThatFit(height) {
    return Math.floor((height - 6) / LEAST_ROW) - 1;
}

/**
 * @param {object} props
 * @param {Part[]} props.parts
 * @param {string} props.sumName
 * @param {number} props.sum as the server gives it
 * @param {string} props.label
 * @param {number} props.width
 * @param {number} props.height that there is room for
 */
export function Waterfall({ parts, sumName, sum, label, width, height: room }) {
    const ends = parts.reduce((sofar, { value }) => [...sofar, (sofar.at(-1) ?? 0) + value], /** @type {number[]} */ ([]));
    const widest = Math.max(BOLD * textWidth(sumName, FONT), ...parts.map((part) => textWidth(part.name, FONT)));
    const beside = VALUE + Math.max(0, ...parts.map((part) => (part.flag ? BOLD * textWidth(part.flag, FONT) : 0)));
    const left = Math.min(width * 0.48, widest + 8) + 10;
    const x = linear(Math.min(0, ...ends), Math.max(1e-12, ...ends), [left, width - beside], 3);
    const row = Math.min(ROW, Math.max(LEAST_ROW, (room - 6) / (parts.length + 1)));
    const height = row * (parts.length + 1) + 6;
    const largest = Math.max(...parts.map((part) => Math.abs(part.value)), Math.abs(sum));
    const shown = (/** @type {number} */ value) => (value !== 0 && Math.abs(value) < ROUNDING * largest ? "\u2248 0" : short(value));
    const bar = (/** @type {number} */ a, /** @type {number} */ b) => ({ x: Math.min(x(a), x(b)), width: Math.max(1.5, Math.abs(x(b) - x(a))) });
    return html`<svg class="chart waterfall" width=${width} height=${height} role="group" aria-label=${label}>
        <line class="grid" x1=${x(0)} x2=${x(0)} y1="0" y2=${height} />
        ${parts.map((part, i) => html`<g
            class=${`part part-${part.kind}${part.onPick ? " clickable" : ""}`}
            transform=${`translate(0 ${i * row})`}
            data-tip=${part.tip ?? part.name}
            ...${part.onPick && buttonLike(`${part.name}: ${short(part.value)}`, part.onPick)}
        >
            <rect class="hit" width=${width} height=${row} rx="4" />
            <text class="part-name" x=${left - 10} y=${row / 2} text-anchor="end" dominant-baseline="central">
                ${fitted(part.name, left - 12, FONT)}
            </text>
            <rect class="part-bar" y=${row * 0.18} height=${row * 0.64} rx="2" ...${bar(ends[i] - part.value, ends[i])} />
            <text class="value-text" x=${x(Math.max(ends[i] - part.value, ends[i])) + 6} y=${row / 2} dominant-baseline="central">${shown(part.value)}${part.flag && html`<tspan class="flag" dx="6">${part.flag}</tspan>`}</text>
        </g>`)}
        <g class="part part-sum" transform=${`translate(0 ${parts.length * row + 4})`}>
            <line class="rule" x1="0" x2=${width} y1="-2" y2="-2" />
            <text class="part-name" x=${left - 10} y=${row / 2} text-anchor="end" dominant-baseline="central">${fitted(sumName, left - 12, FONT)}</text>
            <rect class="part-bar" y=${row * 0.18} height=${row * 0.64} rx="2" ...${bar(0, sum)} />
            <text class="value-text" x=${x(Math.max(0, sum)) + 6} y=${row / 2} dominant-baseline="central">${short(sum)}</text>
        </g>
    </svg>`;
}

/**
 * What makes a part of a drawing a button for keyboards and assistive technology.
 * @param {string} label
 * @param {() => void} act
 */
export function buttonLike(label, act) {
    return {
        role: "button",
        tabindex: 0,
        "aria-label": label,
        onClick: act,
        onKeyDown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            event.stopPropagation();
            act();
        },
    };
}

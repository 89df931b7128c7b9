// The marks of factor graphs: circles are variables, squares factors, a diamond the action.

import { buttonLike } from "../charts/waterfall.js";
import { bare, inLines } from "../lib/format.js";
import { html } from "../lib/html.js";

export const RADIUS = 16;
const FONT = 12;
export const LINE = 12.5; // between two lines of a name
const ANCHOR = { above: "middle", below: "middle", left: "end", right: "start" };

/**
 * @param {object} props
 * @param {string} props.name in full
 * @param {string} props.short the paper's short name, drawn within
 * @param {number} props.x
 * @param {number} props.y
 * @param {number} props.room for the name beside the circle; where it is too short, the name has two lines
 * @param {keyof typeof ANCHOR} props.side where the name stands
 * @param {string} [props.style] further classes: "observed", "chosen", "moved"
 * @param {string} [props.tip]
 * @param {() => void} [props.onPick]
 * @param {number} [props.r] the radius
 */
export function Variable({ name, short, x, y, room, side, style = "", tip, onPick, r = RADIUS }) {
    const lines = inLines(bare(name), room, FONT);
    const more = (lines.length - 1) * LINE;
    const [dx, dy] = { above: [0, -r - 11 - more], below: [0, r + 11], left: [-r - 7, -more / 2], right: [r + 7, -more / 2] }[side];
    const half = 0.8 * r;
    return html`<g class=${`variable ${style}${onPick ? " clickable" : ""}`} transform=${`translate(${x} ${y})`} data-variable=${name}
        data-tip=${tip ?? name} ...${onPick ? buttonLike(`Show the beliefs of ${name}`, onPick) : {}}>
        <rect class="reach" x=${-r} y=${Math.min(-r, dy)} width=${2 * r} height=${2 * r + Math.max(0, Math.abs(dy + more / 2) - r)} />
        ${short === "A"
            ? html`<rect class="shape" x=${-half} y=${-half} width=${2 * half} height=${2 * half} transform="rotate(45)" rx="3" />`
            : html`<circle class="shape" r=${r} />`}
        <text class="short" text-anchor="middle" dominant-baseline="central">${short}</text>
        ${lines.map((line, i) => html`<text class="full" x=${dx} y=${dy + i * LINE} text-anchor=${ANCHOR[side]} dominant-baseline="central">${line}</text>`)}
    </g>`;
}

/** How many lines the longest name needs. @param {string[]} names @param {number} room */
export function mostLines(names, room) {
    return Math.max(1, ...names.map((name) => inLines(bare(name), room, FONT).length));
}

/** @param {{name: string, x: number, y: number, tip?: string, style?: string, label?: string, onPick?: () => void}} props */
export function Factor({ name, x, y, tip = name, style = "", label, onPick }) {
    const half = label ? 12 : 7;
    return html`<g class=${`factor ${style}${onPick ? " clickable" : ""}`} transform=${`translate(${x} ${y})`} data-factor=${name}
        data-tip=${tip} ...${onPick ? buttonLike(tip, onPick) : {}}>
        <rect class="shape" x=${-half} y=${-half} width=${2 * half} height=${2 * half} rx="2" />
        ${label && html`<text class="short" text-anchor="middle" dominant-baseline="central">${label}</text>`}
    </g>`;
}

/**
 * @param {object} props
 * @param {number[]} props.from
 * @param {number[]} props.to
 * @param {string} [props.style]
 * @param {string} [props.tip]
 * @param {boolean} [props.arrow] towards `to`
 * @param {() => void} [props.onPick]
 * @param {string} [props.name]
 */
export function Edge({ from: [x, y], to: [u, v], style = "", tip, arrow, onPick, name }) {
    const angle = (Math.atan2(v - y, u - x) * 180) / Math.PI;
    return html`<g class=${`edge ${style}${onPick ? " clickable" : ""}`} data-tip=${tip} data-edge=${name} ...${onPick ? buttonLike(tip ?? "", onPick) : {}}>
        <line class="hit-line" x1=${x} y1=${y} x2=${u} y2=${v} />
        <line class="line" x1=${x} y1=${y} x2=${u} y2=${v} />
        ${arrow && html`<path class="arrowhead" d="M-6 -5L5 0L-6 5Z" transform=${`translate(${(x + u) / 2} ${(y + v) / 2}) rotate(${angle})`} />`}
    </g>`;
}

/**
 * The ends of an edge, shortened so that it begins and ends at the marks.
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} before how far from `from`
 * @param {number} [after] how far from `to`
 */
export function between([x, y], [u, v], before, after = RADIUS + 1) {
    const length = Math.hypot(u - x, v - y) || 1;
    const [a, b] = [(u - x) / length, (v - y) / length];
    return { from: [x + a * before, y + b * before], to: [u - a * after, v - b * after] };
}

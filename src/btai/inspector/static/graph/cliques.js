// The junction tree of a model whose factor graph has loops: its messages lie between cliques.

import { useApp } from "../app-context.js";
import { fitted, shortNames } from "../lib/format.js";
import { html } from "../lib/html.js";
import { tidy } from "../tree/tidy.js";
import { Edge } from "./marks.js";

const ROW = 32;
const FONT = 12;

/**
 * @param {{inference: Api.Inference, message: Api.Message | undefined, width: number, height: number,
 *     onEdge: (source: string, target: string) => void}} props
 */
export function CliqueTree({ inference: { cliques, messages }, message, width, height, onEdge }) {
    const short = shortNames(useApp().info.model);
    const { names, parents, depths } = forest(messages);
    const { at, leaves } = tidy(parents);
    const column = width / (Math.max(...depths) + 1);
    const box = { width: Math.max(50, Math.min(190, column - 26)), height: 26 };
    const place = (/** @type {number} */ i) => [depths[i] * column + box.width / 2 + 2, at[i] * ROW];
    return html`<svg class="chart graph" width=${width} height=${Math.max(height, leaves * ROW)} role="group" aria-label="Junction tree of the model">
        ${names.map((child, i) => {
            if (parents[i] < 0) return null;
            const parent = names[parents[i]];
            const [[x, y], [u, v]] = [place(i), place(parents[i])];
            const inward = message?.source === child && message.target === parent;
            const outward = message?.source === parent && message.target === child;
            const [a, b] = [[x - box.width / 2, y], [u + box.width / 2, v]];
            return html`<${Edge} name=${`${child}>${parent}`} from=${outward ? b : a} to=${outward ? a : b} arrow=${inward || outward}
                style=${inward || outward ? "chosen" : ""} tip=${`Message between ${child} and ${parent}`}
                onPick=${() => (inward ? onEdge(parent, child) : onEdge(child, parent))} />`;
        })}
        ${names.map((name, i) => {
            const [x, y] = place(i);
            return html`<g class="clique" transform=${`translate(${x} ${y})`} data-tip=${name}>
                <rect class="shape" x=${-box.width / 2} y=${-box.height / 2} width=${box.width} height=${box.height} rx="13" />
                <text class="short" text-anchor="middle" dominant-baseline="central">${fitted(cliques[name].map((one) => short.get(one) ?? one).join(" "), box.width - 16, FONT)}</text>
            </g>`;
        })}
    </svg>`;
}

/** How high the drawing is. @param {Api.Message[]} messages */
export function cliqueHeight(messages) {
    return ROW * tidy(forest(messages).parents).leaves;
}

/**
 * The cliques as trees, parents before children.
 * @param {Api.Message[]} messages
 */
function forest(messages) {
    const names = /** @type {string[]} */ ([]);
    const parents = /** @type {number[]} */ ([]);
    const depths = /** @type {number[]} */ ([]);
    const visit = (/** @type {string} */ name, /** @type {number} */ parent) => {
        if (names.includes(name)) return;
        const me = names.push(name) - 1;
        parents.push(parent);
        depths.push(parent < 0 ? 0 : depths[parent] + 1);
        for (const { source, target } of messages) if (source === name) visit(target, me);
    };
    for (const { source } of messages) visit(source, -1);
    return { names, parents, depths };
}

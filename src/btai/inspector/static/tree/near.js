// The tree around one node: its parent, itself, and a child per action.

import { useApp } from "../app-context.js";
import { buttonLike } from "../charts/waterfall.js";
import { count, fitted, inLines, short, shortSliceName, sliceName, textWidth, whereabouts } from "../lib/format.js";
import { html, useEffect, useRef } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";

const LINE = 16;
const CHILD = { height: 33 + LINE, gap: 9, widest: 22 }; // with one line below its name; `widest`: of the gap
const ENLARGED = { from: 660, most: 1.3 }; // in a room higher than this all is drawn larger
const MANY = 12;
const NODE = { width: 124, height: 88 };
const ARROW = 50; // room for the arrow to the parent
const LINKS = 32; // room between a node and its children
const BOLD = 1.05; // how much wider bold letters are
const TITLES = [13, 11]; // fonts of the node's name
const TITLE = BOLD * TITLES[0];
const TAG = 58; // room for a word beside a name

/** @param {{facts: Api.Facts | undefined, busy: boolean}} props */
export function NearTree({ facts, busy }) {
    const app = useApp();
    const names = namesTo(app, facts?.node ?? 0);
    return html`<${Figure}
        name="near-tree"
        title="Around the current node"
        note=${facts && html`<span data-tip=${sliceName(names)}>${whereabouts(facts.node, names.length)}</span>`}
        busy=${busy}
        table=${() => tableOf(app, facts)}
        python=${pythonFor(app, "facts")}
    >
        ${facts && html`<${Measured} scroll=${true}>
            ${(/** @type {{width: number, height: number}} */ { width, height }) => {
                const scale = Math.min(ENLARGED.most, Math.max(1, height / ENLARGED.from));
                return html`<${Drawing} facts=${facts} names=${names} scale=${scale} width=${width / scale} height=${height / scale} />`;
            }}
        <//>`}
    <//>`;
}

/**
 * How the children are laid out: names have two lines where one is too short, and there are more numbers where there is room.
 * @param {string[]} actions
 * @param {number} room for a name
 * @param {number} height
 */
function arrangement(actions, room, height) {
    const names = actions.some((name) => textWidth(name, TITLE) > room - TAG) ? 2 : 1;
    const least = CHILD.height + LINE * (names - 1);
    const fits = (/** @type {number} */ card) => actions.length * (card + CHILD.gap) + 4 <= height;
    const numbers = fits(least + LINE) ? 2 : 1;
    const card = least + LINE * (numbers - 1);
    const gap = Math.min(CHILD.widest, Math.max(CHILD.gap, (height - actions.length * card) / (actions.length + 1)));
    return { names, numbers, card, step: card + gap, gap };
}

/** @param {{facts: Api.Facts, names: string[], scale: number, width: number, height: number}} props */
function Drawing({ facts, names, scale, width, height }) {
    const app = useApp();
    const actions = app.info.model.action.values;
    const left = ARROW + NODE.width + LINKS;
    const lines = arrangement(actions, width - left - 22, height);
    const { card: tall, step, gap } = lines;
    const total = Math.max(height, actions.length * step + 4);
    const top = (total - actions.length * step + gap) / 2;
    // Where not all children can be seen at once, the node stands beside the best.
    const room = NODE.height / 2 + 4;
    const middle = total > height ? Math.min(total - room, Math.max(room, top + Math.max(0, bestChild(facts)) * step + tall / 2)) : total / 2;
    const drawing = useRef(/** @type {SVGElement | null} */ (null));
    useEffect(() => drawing.current?.querySelector(".node-current")?.scrollIntoView({ block: "nearest" }), [facts.node, facts.best]);
    const open = () => app.go({ view: "slice" }, { remember: true });
    return html`<svg ref=${drawing} class=${`chart near-tree${actions.length > MANY ? " many" : ""}`} width=${scale * width} height=${scale * total}
        viewBox=${`0 0 ${width} ${total}`} role="group" aria-label="The tree around the current node">
        ${actions.map((_, i) => html`<${Link} from=${[ARROW + NODE.width, middle]} to=${[left, top + i * step + tall / 2]} />`)}
        <${ParentArrow} facts=${facts} names=${names} y=${middle} />
        <g class=${`node node-current${facts.selected === facts.node ? " node-selected" : ""}`} transform=${`translate(${ARROW} ${middle - NODE.height / 2})`}
            data-node=${facts.node} data-tip=${`${sliceName(names)}\nOpen this slice`} ...${buttonLike(`Open the slice ${sliceName(names)}`, open)}>
            <rect class="card" width=${NODE.width} height=${NODE.height} rx="8" />
            <${Centred} y="20" style="card-title" text=${shortSliceName(names, 1)} sizes=${TITLES} />
            <${Centred} y="40" style="card-line" text=${count(facts.facts.visits, "visit")} />
            <${Centred} y="56" style="card-line" text=${`mean cost ${short(facts.facts.mean_cost)}`} />
            <${Centred} y="74" style="card-hint" text="open slice" />
            ${facts.selected === facts.node && html`<${Tag} style="tag-selected" x=${NODE.width - 10} y=${NODE.height} text="expanded last" />`}
        </g>
        ${actions.map((name, i) => html`<g transform=${`translate(${left} ${top + i * step})`}>
            ${facts.children.length
                ? html`<${Child} child=${facts.children[i]} name=${name} facts=${facts} width=${width - left - 2} lines=${lines} />`
                : html`<${Missing} name=${name} width=${width - left - 2} lines=${lines} />`}
        </g>`)}
    </svg>`;
}

/** The best action at the root; elsewhere the one on the best path, if it leads through here; else -1. @param {Api.Facts} facts */
function bestChild({ node, best, plan, children }) {
    return node === 0 ? (best ?? -1) : children.findIndex((child) => plan.includes(child.node));
}

/** @param {{from: number[], to: number[]}} props */
function Link({ from: [x, y], to: [u, v] }) {
    const middle = (x + u) / 2;
    return html`<path class="link" d=${`M${x} ${y}C${middle} ${y} ${middle} ${v} ${u} ${v}`} />`;
}

/** @param {{y: string, style: string, text: string, sizes?: number[]}} props `sizes`: of the font, the largest that fits is taken */
function Centred({ y, style, text, sizes = [12] }) {
    const room = NODE.width - 12;
    const size = sizes.find((one) => textWidth(text, BOLD * one) <= room) ?? sizes[sizes.length - 1];
    return html`<text class=${style} font-size=${size} x=${NODE.width / 2} y=${y} text-anchor="middle" dominant-baseline="central">${fitted(text, room, BOLD * size)}</text>`;
}

/** @param {{facts: Api.Facts, names: string[], y: number}} props */
function ParentArrow({ facts, names, y }) {
    const app = useApp();
    const { parent } = facts;
    const arrow = html`<path class="arrow" d="M42 0H6M15 -8L4 0L15 8" /><text class="arrow-text" x="24" y="24" text-anchor="middle">${parent ? "parent" : "root"}</text>`;
    if (!parent) {
        return html`<g class="parent parent-none" transform=${`translate(0 ${y})`} data-tip="The present slice has no parent" role="img" aria-label="No parent: this is the root">${arrow}</g>`;
    }
    const to = sliceName(names.slice(0, -1));
    return html`<g class="parent" transform=${`translate(0 ${y})`} data-tip=${`To the parent, ${to}`}
        ...${buttonLike(`To the parent, ${to}`, () => app.go({ node: parent.node }, { remember: true }))}>
        <rect class="hit" x="0" y="-20" width="48" height="52" rx="6" />${arrow}
    </g>`;
}

/** @typedef {ReturnType<typeof arrangement>} Lines */

/** @param {{child: Api.Fact, name: string, facts: Api.Facts, width: number, lines: Lines}} props */
function Child({ child, name, facts, width, lines }) {
    const app = useApp();
    const best = child.action === bestChild(facts);
    const selected = child.node === facts.selected;
    const praise = facts.node === 0 ? "best" : "best path";
    const said = [best && praise, selected && "expanded last"].filter(Boolean).join(", ");
    const numbers = [
        `${count(child.visits, "visit")}, mean cost ${short(child.mean_cost)}`,
        `EFE ${short(child.efe)}, UCT ${short(child.uct)}`,
    ];
    const inside = width - 20;
    const { card: height } = lines;
    const share = child.visits / Math.max(1, facts.facts.visits);
    return html`<g class=${`node child${best ? " node-best" : ""}${selected ? " node-selected" : ""}`} data-node=${child.node} data-action=${child.action} data-tip=${[name, ...numbers].join("\n")}
        ...${buttonLike(`${name}${said ? `, ${said}` : ""}: ${numbers[0]}. Go there`, () => app.go({ node: child.node }, { remember: true }))}>
        <rect class="card" width=${width} height=${height} rx="7" />
        <rect class="share-whole" x="10" y=${height - 5} width=${inside} height="2" />
        <rect class="share" x="10" y=${height - 5} width=${Math.max(1, inside * share)} height="2" />
        <${Name} name=${name} room=${inside - (best ? textWidth(praise, TITLE) + LINE : 0)} width=${inside} lines=${lines} />
        ${numbers.slice(0, lines.numbers).map((text, i) => html`<text class="card-line" x="10" y=${height - 16 - LINE * (lines.numbers - 1 - i)} dominant-baseline="central">${fitted(text, inside, 12)}</text>`)}
        ${best && html`<${Tag} style="tag-best" x=${width - 10} y="16" text=${`\u2713 ${praise}`} />`}
        ${selected && html`<${Tag} style="tag-selected" x=${width - 10} y=${height} text="expanded last" />`}
    </g>`;
}

/** @param {{style: string, x: number, y: number | string, text: string}} props */
function Tag({ style, x, y, text }) {
    return html`<text class=${`tag ${style}`} x=${x} y=${y} text-anchor="end" dominant-baseline="central">${text}</text>`;
}

/** The action, in two lines where the cards have room for them. @param {{name: string, room: number, width: number, lines: Lines}} props */
function Name({ name, room, width, lines }) {
    const parts = lines.names === 2 ? inLines(name, room, TITLE, width) : [fitted(name, room, TITLE)];
    return parts.map((line, i) => html`<text class="card-title" font-size=${TITLES[0]} x="10" y=${16 + LINE * i} dominant-baseline="central">${line}</text>`);
}

/** @param {{name: string, width: number, lines: Lines}} props */
function Missing({ name, width, lines }) {
    const middle = lines.card / 2;
    return html`<g class="node child node-none" role="img" aria-label=${`${name}: None, not expanded yet`} data-tip=${`${name}: not expanded yet`}>
        <rect class="card" width=${width} height=${lines.card} rx="7" />
        <g transform=${`translate(0 ${middle - 16 - (LINE / 2) * (lines.names - 1)})`}><${Name} name=${name} room=${width - 66} width=${width - 66} lines=${lines} /></g>
        <text class="none-text" x=${width - 10} y=${middle} text-anchor="end" dominant-baseline="central">None</text>
    </g>`;
}

/** The actions from the root to a node, by name. @param {import("../session.js").Session} app @param {number} node */
export function namesTo(app, node) {
    return (app.loaded?.search.path(node) ?? []).map((action) => app.info.model.action.values[action]);
}

/** @param {import("../session.js").Session} app @param {Api.Facts | undefined} facts */
function tableOf(app, facts) {
    const row = (/** @type {string} */ name, /** @type {Api.Fact} */ fact) =>
        [name, fact.node, fact.visits, fact.cost, fact.mean_cost, fact.efe, fact.exploration, fact.uct];
    const missing = facts?.children.length ? [] : app.info.model.action.values.map((name) => [name, "None", "", "", "", "", "", ""]);
    return {
        caption: "The node, its parent, and its children by their actions",
        columns: ["", "node", "visits", "cost", "mean cost", "own EFE", "explo\u00adration", "UCT"],
        rows: facts
            ? [...(facts.parent ? [row("(parent)", facts.parent)] : []), row("(itself)", facts.facts),
                ...facts.children.map((child) => row(String(child.action_name), child)), ...missing]
            : [],
    };
}

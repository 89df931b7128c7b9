// The tree around one node: its parent, itself, and a child per action.

import { useApp } from "../app-context.js";
import { buttonLike } from "../charts/waterfall.js";
import { count, fitted, inLines, short, shortSliceName, sliceName, textWidth } from "../lib/format.js";
import { html, useEffect, useRef } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";

const CHILD = { height: 46, tall: 62, gap: 9 }; // tall: with a name in two lines
const MANY = 12;
const NODE = { width: 124, height: 88 };
const ARROW = 50; // room for the arrow to the parent
const LINKS = 32; // room between a node and its children
const TITLE = 13.6; // the font of a name, bold
const TAG = 58; // room for a word beside a name

/** @param {{facts: Api.Facts | undefined, busy: boolean}} props */
export function NearTree({ facts, busy }) {
    const app = useApp();
    const names = namesTo(app, facts?.node ?? 0);
    return html`<${Figure}
        name="near-tree"
        title="Around the current node"
        note=${html`<span data-tip=${sliceName(names)}>${shortSliceName(names)}</span>`}
        busy=${busy}
        table=${() => tableOf(app, facts)}
        python=${pythonFor(app, "facts")}
    >
        ${facts && html`<${Measured} scroll=${true}>
            ${(/** @type {{width: number, height: number}} */ size) => html`<${Drawing} facts=${facts} names=${names} ...${size} />`}
        <//>`}
    <//>`;
}

/** @param {{facts: Api.Facts, names: string[], width: number, height: number}} props */
function Drawing({ facts, names, width, height }) {
    const app = useApp();
    const actions = app.info.model.action.values;
    const left = ARROW + NODE.width + LINKS;
    const room = width - left - 22;
    const tall = actions.some((name) => textWidth(name, TITLE) > room - TAG) ? CHILD.tall : CHILD.height;
    const step = tall + CHILD.gap;
    const total = Math.max(height, actions.length * step + 4);
    const top = (total - actions.length * step + CHILD.gap) / 2;
    // Where not all children can be seen at once, the node stands beside the best.
    const middle = total > height ? Math.max(NODE.height / 2 + 4, top + Math.max(0, bestChild(facts)) * step + tall / 2) : total / 2;
    const drawing = useRef(/** @type {SVGElement | null} */ (null));
    useEffect(() => drawing.current?.querySelector(".child.node-best")?.scrollIntoView({ block: "nearest" }), [facts.node, facts.best]);
    const open = () => app.go({ view: "slice" }, { remember: true });
    return html`<svg ref=${drawing} class=${`chart near-tree${actions.length > MANY ? " many" : ""}`} width=${width} height=${total} role="group" aria-label="The tree around the current node">
        ${actions.map((_, i) => html`<${Link} from=${[ARROW + NODE.width, middle]} to=${[left, top + i * step + tall / 2]} />`)}
        <${ParentArrow} facts=${facts} names=${names} y=${middle} />
        <g class=${`node node-current${facts.selected === facts.node ? " node-selected" : ""}`} transform=${`translate(${ARROW} ${middle - NODE.height / 2})`}
            data-node=${facts.node} data-tip=${`${sliceName(names)}\nOpen this slice`} ...${buttonLike(`Open the slice ${sliceName(names)}`, open)}>
            <rect class="card" width=${NODE.width} height=${NODE.height} rx="8" />
            <${Centred} y="20" style="card-title" text=${shortSliceName(names, 1)} />
            <${Centred} y="40" style="card-line" text=${count(facts.facts.visits, "visit")} />
            <${Centred} y="56" style="card-line" text=${`mean cost ${short(facts.facts.mean_cost)}`} />
            <${Centred} y="74" style="card-hint" text="open slice" />
            ${facts.selected === facts.node && html`<text class="tag tag-selected" x=${NODE.width / 2} y=${NODE.height + 14} text-anchor="middle">expanded last</text>`}
        </g>
        ${actions.map((name, i) => html`<g transform=${`translate(${left} ${top + i * step})`}>
            ${facts.children.length
                ? html`<${Child} child=${facts.children[i]} name=${name} facts=${facts} width=${width - left - 2} height=${tall} />`
                : html`<${Missing} name=${name} width=${width - left - 2} height=${tall} />`}
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

/** @param {{y: string, style: string, text: string}} props */
function Centred({ y, style, text }) {
    return html`<text class=${style} x=${NODE.width / 2} y=${y} text-anchor="middle" dominant-baseline="central">${fitted(text, NODE.width - 12, 13)}</text>`;
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

/** @param {{child: Api.Fact, name: string, facts: Api.Facts, width: number, height: number}} props */
function Child({ child, name, facts, width, height }) {
    const app = useApp();
    const best = child.action === bestChild(facts);
    const selected = child.node === facts.selected;
    const tag = best ? (facts.node === 0 ? "best" : "best path") : selected ? "expanded last" : "";
    const tip = `${name}\n${count(child.visits, "visit")}, mean cost ${short(child.mean_cost)}\nUCT ${short(child.uct)}`;
    const share = child.visits / Math.max(1, facts.facts.visits);
    return html`<g class=${`node child${best ? " node-best" : ""}${selected ? " node-selected" : ""}`} data-node=${child.node} data-action=${child.action} data-tip=${tip}
        ...${buttonLike(`${name}${tag ? `, ${tag}` : ""}: ${count(child.visits, "visit")}, mean cost ${short(child.mean_cost)}. Go there`, () => app.go({ node: child.node }, { remember: true }))}>
        <rect class="card" width=${width} height=${height} rx="7" />
        <rect class="share" x="10" y=${height - 5} width=${Math.max(1, (width - 20) * share)} height="2" />
        <${Name} name=${name} room=${width - 20 - (tag ? textWidth(tag, TITLE) + 16 : 0)} width=${width - 20} height=${height} />
        <text class="card-line" x="10" y=${height - 14} dominant-baseline="central">${fitted(`${count(child.visits, "visit")}, mean cost ${short(child.mean_cost)}`, width - 20, 12)}</text>
        ${tag && html`<text class=${`tag ${best ? "tag-best" : "tag-selected"}`} x=${width - 10} y="16" text-anchor="end" dominant-baseline="central">${best ? "\u2713 " : ""}${tag}</text>`}
    </g>`;
}

/** The action, in two lines where the cards have room for them. @param {{name: string, room: number, width: number, height: number}} props */
function Name({ name, room, width, height }) {
    const lines = height === CHILD.tall ? inLines(name, room, TITLE, width) : [fitted(name, room, TITLE)];
    return lines.map((line, i) => html`<text class="card-title" x="10" y=${16 + 16 * i} dominant-baseline="central">${line}</text>`);
}

/** @param {{name: string, width: number, height: number}} props */
function Missing({ name, width, height }) {
    return html`<g class="node child node-none" role="img" aria-label=${`${name}: None, not expanded yet`} data-tip=${`${name}: not expanded yet`}>
        <rect class="card" width=${width} height=${height} rx="7" />
        <g transform="translate(0 7)"><${Name} name=${name} room=${width - 66} width=${width - 20} height=${height} /></g>
        <text class="none-text" x=${width - 10} y="23" text-anchor="end" dominant-baseline="central">None</text>
    </g>`;
}

/** The actions from the root to a node, by name. @param {import("../session.js").Session} app @param {number} node */
export function namesTo(app, node) {
    return (app.loaded?.search.path(node) ?? []).map((action) => app.info.model.action.values[action]);
}

/** @param {import("../session.js").Session} app @param {Api.Facts | undefined} facts */
function tableOf(app, facts) {
    const row = (/** @type {string} */ what, /** @type {Api.Fact} */ fact) =>
        [what, fact.node, fact.action_name ?? "", fact.visits, fact.cost, fact.mean_cost, fact.efe, fact.exploration, fact.uct];
    const missing = facts?.children.length ? [] : app.info.model.action.values.map((name) => ["child", "None", name, "", "", "", "", "", ""]);
    return {
        caption: "The node, its parent and its children",
        columns: ["", "node", "action", "visits", "cost", "mean cost", "EFE", "exploration", "UCT"],
        rows: facts ? [...(facts.parent ? [row("parent", facts.parent)] : []), row("itself", facts.facts), ...facts.children.map((child) => row("child", child)), ...missing] : [],
    };
}

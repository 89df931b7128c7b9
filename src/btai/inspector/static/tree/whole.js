// The whole tree on a canvas: size is visits, colour is mean cost; zoom, pan, hover for numbers, hide what is rarely visited.

import { useApp } from "../app-context.js";
import { count, short, shortSliceName } from "../lib/format.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { onThemeChange } from "../lib/theme.js";
import { Figure } from "../ui/figure.js";
import { Icon } from "../ui/icons.js";
import { Measured } from "../ui/measured.js";
import { treeAsSvg } from "./as-svg.js";
import { layOut, leastVisits } from "./layout.js";
import { costRange, paint, palette, picture } from "./paint.js";

const ZOOM = 1.5;
const FITTED = { k: 1, x: 0, y: 0 };
const IN_TABLE = 200;

/** @param {{facts: Api.Facts | undefined}} props */
export function WholeTree({ facts }) {
    const app = useApp();
    const { cursor, loaded, place } = app;
    const draw = useRef(/** @type {(() => SVGSVGElement) | null} */ (null));
    const search = /** @type {import("../session.js").Loaded} */ (loaded).search;
    const size = search.iterations;
    const fewest = useMemo(() => leastVisits(search), [search, size]);
    const least = Math.max(1, Number(place.visits) || fewest);
    const layout = useMemo(() => layOut(search, least), [search, size, least]);
    const range = useMemo(() => costRange(search.efe), [search, size]);
    const [view, setView] = useState(() => readZoom(place.zoom));
    useEffect(() => {
        const soon = setTimeout(() => app.note({ zoom: writeZoom(view) }), 150);
        return () => clearTimeout(soon);
    }, [view]);
    const drawn = useRef(/** @type {import("./paint.js").Picture | null} */ (null));
    const zoom = (/** @type {number} */ factor) => setView(zoomAbout(view, factor, ...middle(drawn.current)));

    const shown = { search, layout, least, range, iteration: cursor.iteration, current: cursor.node };
    const marks = {
        plan: facts?.plan ?? [],
        selected: cursor.iteration ? search.expanded[cursor.iteration - 1] : null,
        best: cursor.iteration ? 1 + search.best[cursor.iteration - 1] : null,
    };
    const nodes = search.nodesAt(cursor.iteration);
    return html`<${Figure}
        name="whole-tree"
        title="The whole tree"
        note=${`${count(nodes, "node")} after ${count(cursor.iteration, "iteration")}`}
        table=${() => tableOf(app)}
        python=${pythonFor(app, "tree")}
        drawing=${() => draw.current && draw.current()}
        controls=${html`
            <button class="icon-button" aria-label="Zoom out" data-tip="Zoom out" onClick=${() => zoom(1 / ZOOM)}><${Icon} name="minus" /></button>
            <button class="icon-button" aria-label="Fit the tree" data-tip="Fit the tree into the room" onClick=${() => setView(FITTED)}><${Icon} name="fit" /></button>
            <button class="icon-button" aria-label="Zoom in" data-tip="Zoom in" onClick=${() => zoom(ZOOM)}><${Icon} name="plus" /></button>`}
    >
        <div class="whole-tree">
            ${nodes === 1 && html`<${Nothing} />`}
            <${Measured}>${(/** @type {{width: number, height: number}} */ room) => html`<${Canvas} ...${room} shown=${shown} marks=${marks}
                view=${view} setView=${setView} draw=${draw} drawn=${drawn} />`}<//>
            <${Legend} range=${search.iterations ? range : null} least=${least} left=${nodes - shownNodes(search, cursor.iteration, least)} />
        </div>
    <//>`;
}

function Nothing() {
    const app = useApp();
    const { info, loaded, live } = app;
    return html`<p class="empty tree-empty">${
        loaded?.search.iterations
            ? "Before the first planning iteration there is only the present slice. Move on in the timeline below, with \u2192 or Space."
            : info.can.command && !live.over && app.atEnd({ ...app.place, ...app.cursor })
              ? html`The tree grows here. <b>Next planning iteration</b> adds its first nodes.`
              : "Nothing was planned in this cycle."
    }</p>`;
}

/** @param {{range: [number, number] | null, least: number, left: number}} props `range`: of the colours, where there are any; `left`: out, nodes */
function Legend({ range, least, left }) {
    const app = useApp();
    const choose = (/** @type {Event} */ event) => {
        const visits = Math.max(1, Math.floor(Number(/** @type {HTMLInputElement} */ (event.target).value) || 1));
        app.go({ visits: String(visits) });
    };
    return html`<div class="tree-legend">
        <div class="row"><span class="ramp-legend" data-tip="Mean cost: aggregated expected free energy per visit.">
            <span>mean cost ${range && short(range[0])}</span><i class="ramp"></i><span>${range && short(range[1])}</span>
        </span>
        <span class="size-legend"><i class="dot dot-small"></i><i class="dot dot-large"></i>visits</span>
        <label class="least">show nodes of <input type="number" min="1" value=${least} onChange=${choose} /> visits or more</label></div>
        <div class="row">
        <span><i class="key key-plan"></i>best path</span>
        <span><i class="key key-current"></i>in view</span>
        <span><i class="key key-best"></i>best action</span>
        <span><i class="key key-selected"></i>expanded last</span>
        ${left > 0 && html`<span class="least">${count(left, "node")} left out</span>`}</div>
    </div>`;
}

/**
 * @param {object} props
 * @param {number} props.width
 * @param {number} props.height
 * @param {any} props.shown
 * @param {any} props.marks
 * @param {import("./paint.js").View} props.view
 * @param {(change: import("./paint.js").View | ((before: import("./paint.js").View) => import("./paint.js").View)) => void} props.setView
 * @param {{current: (() => SVGSVGElement) | null}} props.draw
 * @param {{current: import("./paint.js").Picture | null}} props.drawn
 */
function Canvas({ width, height, shown, marks, view, setView, draw, drawn }) {
    const app = useApp();
    const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
    const drag = useRef(/** @type {{x: number, y: number, view: import("./paint.js").View, moved: boolean} | null} */ (null));
    const [colours, setColours] = useState(palette);
    useEffect(() => onThemeChange(() => setColours(palette())), []);

    // Not `useEffect`, which waits for the frame after: what is dragged should not lag behind the pointer.
    useLayoutEffect(() => {
        const element = /** @type {HTMLCanvasElement} */ (canvas.current);
        const ratio = devicePixelRatio || 1;
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
        const now = picture({ ...shown, ...marks, view, width, height });
        drawn.current = now;
        element.dataset.dots = String(now.dotOf.size);
        draw.current = () => treeAsSvg(now, colours, width, height);
        const ctx = element.getContext("2d");
        if (!ctx) return;
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.clearRect(0, 0, width, height);
        paint(ctx, now, colours);
    });
    useEffect(() => {
        // Not `onWheel`: the listener must be allowed to keep the page from scrolling.
        const element = /** @type {HTMLCanvasElement} */ (canvas.current);
        const zoom = (/** @type {WheelEvent} */ event) => {
            event.preventDefault();
            const { deltaY, offsetX, offsetY } = event;
            const [x, y] = [offsetX / element.clientWidth, offsetY / element.clientHeight];
            setView((before) => zoomAbout(before, Math.exp(-deltaY * 0.0015), x, y));
        };
        element.addEventListener("wheel", zoom, { passive: false });
        return () => element.removeEventListener("wheel", zoom);
    }, []);

    const move = (/** @type {PointerEvent} */ event) => {
        const element = /** @type {HTMLCanvasElement} */ (canvas.current);
        if (drag.current && event.buttons) {
            const { x, y, view: from } = drag.current;
            const [dx, dy] = [event.clientX - x, event.clientY - y];
            drag.current.moved ||= Math.hypot(dx, dy) > 3;
            if (drag.current.moved) setView(rounded({ k: from.k, x: from.x + dx / width, y: from.y + dy / height }));
            return;
        }
        const dot = nearest(drawn.current?.dots ?? [], event.offsetX, event.offsetY);
        element.style.cursor = dot ? "pointer" : "grab";
        if (dot) element.dataset.tip = describe(app, dot.node);
        else delete element.dataset.tip;
    };
    const release = (/** @type {PointerEvent} */ event) => {
        const clicked = drag.current && !drag.current.moved;
        drag.current = null;
        const dot = clicked && nearest(drawn.current?.dots ?? [], event.offsetX, event.offsetY);
        if (dot) app.go({ node: dot.node }, { remember: true });
    };
    return html`<canvas
        class="tree-canvas"
        ref=${canvas}
        style=${{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label="The search tree: each node's size shows its visits, its colour its mean cost. The button Numbers as a table lists them."
        onPointerDown=${(/** @type {PointerEvent} */ event) => {
            drag.current = { x: event.clientX, y: event.clientY, view, moved: false };
            /** @type {HTMLElement} */ (event.target).setPointerCapture(event.pointerId);
        }}
        onPointerMove=${move}
        onPointerUp=${release}
        onPointerCancel=${() => (drag.current = null)}
    ></canvas>`;
}

/** @param {string | undefined} text @returns {import("./paint.js").View} */
function readZoom(text) {
    const [k, x, y] = (text ?? "").split(",").map(Number);
    return k > 0 && Number.isFinite(x) && Number.isFinite(y) ? { k, x, y } : FITTED;
}

/** @param {import("./paint.js").View} view */
function writeZoom({ k, x, y }) {
    return k === 1 && x === 0 && y === 0 ? undefined : [k, x, y].join();
}

/** As the address has it, so that a link leads to exactly the same. @param {import("./paint.js").View} view */
function rounded({ k, x, y }) {
    const [zoom, right, down] = [k, x, y].map((number) => Number(number.toFixed(4)));
    return { k: zoom, x: right, y: down };
}

/** @param {import("./paint.js").View} view @param {number} factor @param {number} x @param {number} y */
function zoomAbout(view, factor, x, y) {
    const k = Math.min(200, Math.max(0.5, view.k * factor));
    const change = k / view.k;
    return rounded({ k, x: x - (x - view.x) * change, y: y - (y - view.y) * change });
}

/** How many nodes have had so many visits. @param {import("../data/search.js").Search} search @param {number} iteration @param {number} least */
function shownNodes(search, iteration, least) {
    const { visits } = search.at(iteration);
    let shown = 0;
    for (let node = 0; node < search.nodesAt(iteration); node++) if (node === 0 || visits[node] >= least) shown++;
    return shown;
}

/** Where the buttons zoom: at the node in view, if it is on the canvas; else in the middle. @param {import("./paint.js").Picture | null} picture @returns {[number, number]} shares of the room */
function middle(picture) {
    const { marks: { current }, width, height } = picture ?? { marks: {}, width: 1, height: 1 };
    const [x, y] = current ? [current.x / width, current.y / height] : [0.5, 0.5];
    return [x, y].every((share) => share >= 0 && share <= 1) ? [x, y] : [0.5, 0.5];
}

/** @param {import("./paint.js").Dot[]} dots @param {number} x @param {number} y */
function nearest(dots, x, y) {
    let best = null;
    let least = 9;
    for (const dot of dots) {
        const away = Math.hypot(dot.x - x, dot.y - y) - dot.r;
        if (away < least) [best, least] = [dot, away];
    }
    return best;
}

/** The numbers of a node, looked up. @param {import("../session.js").Session} app @param {number} node */
function describe(app, node) {
    const { search } = /** @type {import("../session.js").Loaded} */ (app.loaded);
    const { visits, cost, efe } = search.at(app.cursor.iteration);
    const names = search.path(node).map((action) => app.info.model.action.values[action]);
    const own = node ? `\nown expected free energy ${short(efe[node])}` : "";
    return `${shortSliceName(names, 4)}, node ${node}\n${count(visits[node], "visit")}, mean cost ${short(cost[node] / visits[node])}${own}`;
}

/** The most visited nodes. @param {import("../session.js").Session} app */
function tableOf(app) {
    const { search } = /** @type {import("../session.js").Loaded} */ (app.loaded);
    const { visits, cost, efe } = search.at(app.cursor.iteration);
    const all = Array.from({ length: search.nodesAt(app.cursor.iteration) }, (_, node) => node);
    const most = all.sort((a, b) => visits[b] - visits[a] || a - b).slice(0, IN_TABLE);
    const name = (/** @type {number} */ action) => app.info.model.action.values[action];
    return {
        caption: all.length > IN_TABLE ? `The ${IN_TABLE} most visited of ${all.length.toLocaleString("en")} nodes` : "All nodes, the most visited first",
        columns: ["node", "actions from the root", "visits", "cost", "mean cost", "own EFE"],
        rows: most.map((node) => [node, search.path(node).map(name).join(", ") || "(root)", visits[node], cost[node], cost[node] / visits[node], node ? efe[node] : null]),
    };
}

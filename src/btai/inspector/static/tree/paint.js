// The whole tree as circles and curves: first what there is to draw, then drawing it, on a canvas or as SVG.

import { extent } from "../vendor/d3-array.js";
import { colour, ramp } from "../lib/theme.js";

const STEPS = 24; // of the colours
const SMALLEST = [1, 1.6]; // where the leaves are crowded, and where they have room
const LARGEST = 15;
const ROUND = 2; // radius from which one of many dots is round
const OUTLINED = 2.4; // radius from which a dot has an outline
const MARGIN = { left: 26, right: 22, top: 16, bottom: 16 };
const RING = 5; // how far around a dot
const CURVED = 3000; // with more nodes, links are straight

/**
 * @typedef {{k: number, x: number, y: number}} View zoom and shift of what fits the room, the shift as a share of the room
 * @typedef {{node: number, x: number, y: number, r: number, step: number}} Dot `step`: of the colours
 * @typedef {object} Picture
 * @property {Dot[]} dots those that can be told apart, parents before children
 * @property {Map<number, Dot>} dotOf by node
 * @property {[Dot, Dot][]} links
 * @property {[Dot, Dot][]} plan the links of the planned path
 * @property {{current?: Dot, selected?: Dot, best?: Dot}} marks
 * @property {number} width
 * @property {number} height
 */

/**
 * What the colours stand for: from the least to the greatest expected free energy, as mean costs lie between them.
 * @param {Float64Array} efe NaN at the root
 * @returns {[number, number]}
 */
export function costRange(efe) {
    const [low, high] = extent(efe.subarray(1));
    return low === undefined ? [0, 1] : [low, high];
}

/**
 * @param {object} given
 * @param {import("../data/search.js").Search} given.search
 * @param {number} given.iteration
 * @param {import("./layout.js").Layout} given.layout
 * @param {number} given.least visits to be seen
 * @param {[number, number]} given.range of the colours
 * @param {View} given.view
 * @param {number} given.width
 * @param {number} given.height
 * @param {number[]} given.plan
 * @param {number} given.current
 * @param {number | null} given.selected
 * @param {number | null} given.best the child of the root
 * @returns {Picture}
 */
export function picture({ search, iteration, layout, least, range, view, width, height, plan, current, selected, best }) {
    const { visits, cost, parents } = search.at(iteration);
    const end = search.nodesAt(iteration);
    const [low, high] = range;
    const most = Math.sqrt(Math.max(2, search.iterations));
    const inside = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const enlarged = Math.min(2.5, Math.max(0.7, Math.sqrt(view.k)));
    const room = (0.45 * view.k * inside.height) / layout.leaves;
    const smallest = enlarged * Math.min(SMALLEST[1], Math.max(SMALLEST[0], room));
    /** @type {Map<number, Dot>} */
    const dotOf = new Map();
    const links = /** @type {[Dot, Dot][]} */ ([]);
    const dots = [];
    const taken = new Set(); // pixels: of small dots in the same place one is enough
    for (const node of layout.nodes) {
        if (node >= end) break;
        if (visits[node] < least && node > 0) continue;
        const share = (cost[node] / visits[node] - low) / (high - low || 1);
        const dot = {
            node,
            x: view.x * width + view.k * (MARGIN.left + layout.across[node] * inside.width),
            y: view.y * height + view.k * (MARGIN.top + layout.down[node] * inside.height),
            r: Math.max(smallest, (enlarged * LARGEST * Math.sqrt(visits[node])) / (2 + most)),
            step: node === 0 ? -1 : Math.round(Math.min(1, Math.max(0, share)) * (STEPS - 1)),
        };
        dotOf.set(node, dot);
        const pixel = Math.round(dot.x) * 16_384 + Math.round(dot.y);
        if (dot.r <= smallest && taken.has(pixel)) continue;
        taken.add(pixel);
        dots.push(dot);
        const above = dotOf.get(parents[node]);
        if (above) links.push([above, dot]);
    }
    return {
        dots,
        dotOf,
        links,
        plan: plan.slice(1).flatMap((node, i) => {
            const [above, below] = [dotOf.get(plan[i]), dotOf.get(node)];
            return above && below ? [/** @type {[Dot, Dot]} */ ([above, below])] : [];
        }),
        marks: {
            current: dotOf.get(current),
            selected: selected === null ? undefined : dotOf.get(selected),
            best: best === null ? undefined : dotOf.get(best),
        },
        width,
        height,
    };
}

/** The colours of the present theme. */
export function palette() {
    return {
        steps: ramp(STEPS),
        root: colour("--ink-2"),
        link: colour("--tree-link"),
        plan: colour("--ink"),
        outline: colour("--dot-outline"),
        current: colour("--accent"),
        selected: colour("--red"),
        best: colour("--green"),
    };
}
/** @typedef {ReturnType<typeof palette>} Palette */

/**
 * Draw with the operations of a canvas; `ctx` may be anything that has them.
 * @param {Pick<CanvasRenderingContext2D, "beginPath" | "moveTo" | "lineTo" | "bezierCurveTo" | "arc" | "rect" | "fill" | "stroke" | "fillStyle" | "strokeStyle" | "lineWidth">} ctx
 * @param {Picture} picture
 * @param {Palette} colours
 */
export function paint(ctx, { dots, links, plan, marks }, colours) {
    strokeLinks(ctx, links, colours.link, 1, links.length > CURVED);
    strokeLinks(ctx, plan, colours.plan, 2.2, links.length > CURVED);
    /** @type {Map<number, Dot[]>} */
    const byStep = new Map();
    for (let i = dots.length - 1; i >= 0; i--) {
        const { step } = dots[i];
        const same = byStep.get(step);
        if (same) same.push(dots[i]);
        else byStep.set(step, [dots[i]]);
    }
    const round = dots.length > CURVED ? ROUND : 0;
    for (const [step, some] of byStep) {
        ctx.beginPath();
        for (const { x, y, r } of some) {
            if (r < round) {
                ctx.rect(x - r, y - r, 2 * r, 2 * r);
                continue;
            }
            ctx.moveTo(x + r, y);
            ctx.arc(x, y, r, 0, 2 * Math.PI);
        }
        ctx.fillStyle = step < 0 ? colours.root : colours.steps[step];
        ctx.fill();
    }
    outline(ctx, dots, colours.outline);
    diamond(ctx, marks.best, colours.best);
    ring(ctx, marks.current, colours.current);
    frame(ctx, marks.selected, colours.selected);
}

/**
 * @param {Parameters<typeof paint>[0]} ctx
 * @param {[Dot, Dot][]} links
 * @param {string} style
 * @param {number} width
 * @param {boolean} straight
 */
function strokeLinks(ctx, links, style, width, straight) {
    ctx.beginPath();
    for (const [above, below] of links) {
        const middle = (above.x + below.x) / 2;
        ctx.moveTo(above.x, above.y);
        if (straight) ctx.lineTo(below.x, below.y);
        else ctx.bezierCurveTo(middle, above.y, middle, below.y, below.x, below.y);
    }
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.stroke();
}

/** So that pale dots stand out from the ground; small ones would be all outline. @param {Parameters<typeof paint>[0]} ctx @param {Dot[]} dots @param {string} style */
function outline(ctx, dots, style) {
    ctx.beginPath();
    for (const { x, y, r } of dots) {
        if (r < OUTLINED) continue;
        ctx.moveTo(x + r, y);
        ctx.arc(x, y, r, 0, 2 * Math.PI);
    }
    ctx.strokeStyle = style;
    ctx.lineWidth = 0.8;
    ctx.stroke();
}

/** @param {Parameters<typeof paint>[0]} ctx @param {Dot | undefined} dot @param {string} style */
function ring(ctx, dot, style) {
    if (!dot) return;
    ctx.beginPath();
    ctx.moveTo(dot.x + dot.r + RING, dot.y);
    ctx.arc(dot.x, dot.y, dot.r + RING, 0, 2 * Math.PI);
    ctx.strokeStyle = style;
    ctx.lineWidth = 2;
    ctx.stroke();
}

/** @param {Parameters<typeof paint>[0]} ctx @param {Dot | undefined} dot @param {string} style */
function diamond(ctx, dot, style) {
    if (!dot) return;
    const { x, y } = dot;
    const half = Math.SQRT2 * dot.r + 5; // touches no dot
    ctx.beginPath();
    ctx.moveTo(x - half, y);
    for (const [u, v] of [[x, y - half], [x + half, y], [x, y + half], [x - half, y]]) ctx.lineTo(u, v);
    ctx.strokeStyle = style;
    ctx.lineWidth = 2;
    ctx.stroke();
}

/** @param {Parameters<typeof paint>[0]} ctx @param {Dot | undefined} dot @param {string} style */
function frame(ctx, dot, style) {
    if (!dot) return;
    const half = dot.r + 8;
    ctx.beginPath();
    ctx.rect(dot.x - half, dot.y - half, 2 * half, 2 * half);
    ctx.strokeStyle = style;
    ctx.lineWidth = 2;
    ctx.stroke();
}

// Where two position-like states are believed to be: a heat map over the environment's image, along the planned path.

import { useApp } from "../app-context.js";
import { short } from "../lib/format.js";
import { html, useEffect, useMemo, useState } from "../lib/html.js";
import { useData } from "../lib/resource.js";
import { detached } from "../lib/save.js";
import { floats } from "../data/packed.js";

const FAINT = 0.02; // of the largest probability: cells below are not drawn
const OPAQUE = 0.7; // the most, so that the image is seen underneath
const IN_TABLE = 60;
const SVG = "http://www.w3.org/2000/svg";

/**
 * What is chosen: a pair of states, and a slice on the planned path.
 * @param {import("../session.js").Session} app
 * @param {Api.Facts | undefined} facts
 */
export function occupancyChoice(app, facts) {
    const { place, info } = app;
    const pairs = info.occupancy;
    const pair = place.pair === "off" ? undefined : (pairs.find((states) => states.join() === place.pair) ?? pairs[0]);
    const plan = facts?.plan ?? [0];
    const step = Math.min(plan.length - 1, Math.max(0, Number(place.step ?? 0) || 0));
    return { pairs, pair, plan, step, node: plan[step] };
}

/** @param {{facts: Api.Facts | undefined, image: string | null}} props */
export function Scene({ facts, image }) {
    const app = useApp();
    const { trial, cycle } = app.cursor;
    const { pair, node, plan } = occupancyChoice(app, facts);
    const at = facts && pair ? { trial, cycle, node, x: pair[0], y: pair[1] } : null;
    const { value: map, error } = useData("occupancy", at);
    const [shape, setShape] = useState("");
    const measure = (/** @type {Event} */ event) => {
        const { naturalWidth, naturalHeight } = /** @type {HTMLImageElement} */ (event.target);
        setShape(`${naturalWidth} / ${naturalHeight}`);
    };
    const aspectRatio = (image ? shape : map && `${map.columns} / ${map.rows}`) || undefined;
    return html`<div class="scene" style=${{ aspectRatio }}>
        ${image
            ? html`<img class="scene-image" src=${image} alt=${`The environment in cycle ${cycle}`} onLoad=${measure} />`
            : html`<div class="scene-image scene-none">${pair ? "" : "No image: the render() of an environment supplies it."}</div>`}
        ${map && pair && html`<${Heat} map=${map} plan=${plan} />`}
        ${error && html`<p class="scene-error">${error.message}</p>`}
    </div>
    ${map && pair && html`<p class="legend scene-legend">
        <span data-tip=${`The joint belief of ${pair.join(" and ")}: the fuller the colour, the more probable.\nThe most probable place is framed.`}><i class="swatch swatch-heat"></i>believed here</span>
        ${plan.length > 1 && html`<span data-tip="The most probable place in each slice along the best path"><i class="swatch-path"></i>best path</span>`}
    </p>`}`;
}

/**
 * Image and heat map as one drawing.
 * @param {HTMLElement} figure
 */
export function sceneAsSvg(figure) {
    const image = /** @type {HTMLImageElement | null} */ (figure.querySelector("img.scene-image"));
    const heat = /** @type {SVGSVGElement | null} */ (figure.querySelector("svg.scene-heat"));
    const { width, height } = /** @type {Element} */ (figure.querySelector(".scene")).getBoundingClientRect();
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("width", String(Math.round(width)));
    svg.setAttribute("height", String(Math.round(height)));
    if (image) {
        const picture = document.createElementNS(SVG, "image");
        const look = { href: pixels(image), width: "100%", height: "100%", preserveAspectRatio: "none", "image-rendering": "pixelated" };
        for (const [name, value] of Object.entries(look)) picture.setAttribute(name, value);
        svg.append(picture);
    }
    if (heat) {
        const copy = detached(heat);
        const { left, top, width: wide, height: high } = heat.style;
        for (const [name, value] of Object.entries({ x: left, y: top, width: wide, height: high })) copy.setAttribute(name, value);
        svg.append(copy);
    }
    return image || heat ? svg : null;
}

/** The image itself, as an address that goes along with a file. @param {HTMLImageElement} image */
function pixels(image) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    return canvas.toDataURL();
}

const WHOLE = [0, 0, 1, 1]; // of the image
const percent = (/** @type {number} */ share) => `${100 * share}%`;

/** @param {{map: Api.Occupancy, plan: number[]}} props */
function Heat({ map, plan }) {
    const values = useMemo(() => floats(map.values), [map]);
    const { columns, rows, x, y } = map;
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const cells = [];
    for (let i = 0; i < values.length; i++) {
        if (values[i] < FAINT * most) continue;
        const [row, column] = [Math.floor(i / columns), i % columns];
        cells.push(html`<rect class="heat" x=${column} y=${row} width="1" height="1" fill-opacity=${OPAQUE * (values[i] / most)}
            data-tip=${`${x} = ${column}, ${y} = ${row}\nprobability ${short(values[i])}`} />`);
    }
    const [column, row] = peak(map);
    const [left, top, right, bottom] = map.area ?? WHOLE;
    const place = { left: percent(left), top: percent(top), width: percent(right - left), height: percent(bottom - top) };
    return html`<svg class="scene-heat" style=${place} viewBox=${`0 0 ${columns} ${rows}`} preserveAspectRatio="none" role="img"
        aria-label=${`Where ${x} and ${y} are believed to be`}>
        ${cells}
        <${Path} plan=${plan} x=${x} y=${y} />
        <rect class="scene-peak" x=${column} y=${row} width="1" height="1" />
    </svg>`;
}

/** The most probable cell of each slice on the planned path. @param {{plan: number[], x: string, y: string}} props */
function Path({ plan, x, y }) {
    const { cache, cursor } = useApp();
    const [{ key: shown, points }, show] = useState({ key: "", points: /** @type {[number, number][]} */ ([]) });
    const { trial, cycle } = cursor;
    const key = [trial, cycle, x, y, ...plan].join();
    useEffect(() => {
        let wanted = true;
        const answers = plan.map((node) => cache.ask("occupancy", { trial, cycle, node, x, y }));
        Promise.all(answers.map((answer) => answer.promise)).then(() => {
            if (wanted) show({ key, points: answers.flatMap(({ value }) => (value ? [peak(value)] : [])) });
        });
        return () => void (wanted = false);
    }, [key]);
    return html`<g aria-busy=${shown === key ? "false" : "true"}>
        ${points.length > 1 && html`<polyline class="scene-path" points=${points.map(([a, b]) => `${a + 0.5},${b + 0.5}`).join(" ")} />
            <path class="scene-stop" d=${points.map(([a, b]) => `M${a + 0.5} ${b + 0.5}h0`).join("")} />`}
    </g>`;
}

/** @param {Api.Occupancy} map @returns {[number, number]} column, row */
function peak({ values: packed, columns }) {
    const values = floats(packed);
    let best = 0;
    for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
    return [best % columns, Math.floor(best / columns)];
}

/** @param {Api.Occupancy} map */
export function occupancyTable(map) {
    const values = floats(map.values);
    const order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, IN_TABLE);
    return {
        caption: `The ${order.length} most probable of ${values.length} cells`,
        columns: [map.x, map.y, "probability"],
        rows: order.map((i) => [i % map.columns, Math.floor(i / map.columns), values[i]]),
    };
}

/** @param {{facts: Api.Facts | undefined}} props */
export function OccupancyControls({ facts }) {
    const app = useApp();
    const { pairs, pair, plan, step } = occupancyChoice(app, facts);
    if (!pairs.length) return null;
    const names = plan.slice(1).map((node) => app.info.model.action.values[/** @type {number} */ (app.loaded?.search.action(node))]);
    const choose = (/** @type {Event} */ event) => app.go({ pair: /** @type {HTMLSelectElement} */ (event.target).value });
    const walk = (/** @type {Event} */ event) => app.go({ step: /** @type {HTMLInputElement} */ (event.target).value });
    return html`<div class="occupancy-controls">
        <label><span>beliefs of</span>
            <select value=${pair?.join() ?? "off"} title=${pair?.join(" × ")} onChange=${choose}>
                ${pairs.map((states) => html`<option value=${states.join()}>${states.join(" × ")}</option>`)}
                <option value="off">none</option>
            </select>
        </label>
        ${pair && html`<label class="walk">
            <span data-tip=${step === 0 ? "the present slice" : `after ${names.slice(0, step).join(", ")}`}>${step === 0 ? "now" : `step ${step}: ${names[step - 1]}`}</span>
            <input type="range" min="0" max=${plan.length - 1} value=${step} disabled=${plan.length < 2} onInput=${walk}
                aria-label="Step along the planned path" />
        </label>`}
    </div>`;
}

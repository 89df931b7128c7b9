// A picture of the whole tree as SVG, for saving: the few operations of a canvas that are used, written down as paths.

import { paint } from "./paint.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {import("./paint.js").Picture} picture
 * @param {import("./paint.js").Palette} colours
 * @param {number} width
 * @param {number} height
 */
export function treeAsSvg(picture, colours, width, height) {
    const svg = /** @type {SVGSVGElement} */ (document.createElementNS(NAMESPACE, "svg"));
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(height));
    paint(pen(svg), picture, colours);
    return svg;
}

/** @param {SVGSVGElement} svg @returns {Parameters<typeof paint>[0]} */
function pen(svg) {
    /** @type {string[]} */
    let path = [];
    const at = (/** @type {number[]} */ ...numbers) => numbers.map((x) => x.toFixed(1)).join(" ");
    const put = (/** @type {Record<string, string | number>} */ attributes) => {
        const element = document.createElementNS(NAMESPACE, "path");
        element.setAttribute("d", path.join(""));
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
        svg.append(element);
    };
    return {
        fillStyle: "",
        strokeStyle: "",
        lineWidth: 1,
        beginPath: () => void (path = []),
        moveTo: (x, y) => void path.push(`M${at(x, y)}`),
        lineTo: (x, y) => void path.push(`L${at(x, y)}`),
        bezierCurveTo: (a, b, c, d, e, f) => void path.push(`C${at(a, b, c, d, e, f)}`),
        arc: (x, y, r) => void path.push(`A${at(r, r)} 0 1 1 ${at(x - r, y)}A${at(r, r)} 0 1 1 ${at(x + r, y)}`),
        rect: (x, y, w, h) => void path.push(`M${at(x, y)}h${at(w)}v${at(h)}h${at(-w)}Z`),
        fill() {
            put({ fill: String(this.fillStyle), stroke: "none" });
        },
        stroke() {
            put({ fill: "none", stroke: String(this.strokeStyle), "stroke-width": this.lineWidth });
        },
    };
}

// Charts as files: the SVG that is on the page with its styles spelled out, and the same as PNG.

const STYLES = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "stroke-opacity", "opacity", "font-family", "font-size", "font-style", "font-weight", "text-anchor",
    "dominant-baseline", "letter-spacing", "paint-order", "vector-effect", "visibility",
];
const SCALE = 2; // pixels of the PNG per pixel of the page

/** The first chart within an element. @param {Element} within @returns {SVGSVGElement | null} */
export function svgOf(within) {
    return within.querySelector("svg.chart");
}

/** @param {SVGSVGElement | null} svg @param {string} name */
export function saveSvg(svg, name) {
    if (svg) save(new Blob([standalone(svg).text], { type: "image/svg+xml" }), `${name}.svg`);
}

/** @param {SVGSVGElement | null} svg @param {string} name */
export async function savePng(svg, name) {
    if (!svg) return;
    const { text, width, height } = standalone(svg);
    const image = new Image(width, height);
    image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * SCALE;
    canvas.height = height * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => blob && save(blob, `${name}.png`));
}

/**
 * The drawing as a file: what the style sheets say stands in attributes, and it has a background.
 * @param {SVGSVGElement} svg
 */
function standalone(svg) {
    const copy = detached(svg);
    const width = Number(svg.getAttribute("width"));
    const height = Number(svg.getAttribute("height"));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    if (!svg.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    background.setAttribute("width", "100%");
    background.setAttribute("height", "100%");
    background.setAttribute("fill", surfaceColour());
    copy.prepend(background);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/**
 * A copy that looks the same away from the page.
 * @param {SVGSVGElement} svg
 */
export function detached(svg) {
    const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
    const originals = [svg, ...svg.querySelectorAll("*")];
    if (svg.isConnected) [copy, ...copy.querySelectorAll("*")].forEach((element, i) => spellOut(originals[i], element));
    return copy;
}

/** @param {Element} original @param {Element} copy */
function spellOut(original, copy) {
    const style = getComputedStyle(original);
    for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "data-tip", "tabindex", "role", "aria-label"]) copy.removeAttribute(name);
}

function surfaceColour() {
    return getComputedStyle(document.querySelector(".panel") ?? document.body).backgroundColor;
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

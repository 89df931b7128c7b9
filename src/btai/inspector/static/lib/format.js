// Numbers and names as people read them. Exact numbers stand beside, in the `value` of a <data> element.

const MINUS = "\u2212";
const DIGITS = 4;
const ROUNDING = 1e-12; // relative: what two ways of adding up the same numbers may differ by

/**
 * About four significant digits, or so many, without padding: 4.03, 0.0312, 1.2e−7.
 * @param {number | null | undefined} x
 * @param {number} [digits]
 */
export function short(x, digits = DIGITS) {
    if (x === null || x === undefined || Number.isNaN(x)) return "\u2013";
    if (x === 0) return "0";
    const size = Math.abs(x);
    const text = size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(digits))) : scientific(x, digits - 2);
    return text.replaceAll("-", MINUS);
}

/** @param {number} x @param {number} decimals */
function scientific(x, decimals) {
    const [digits, exponent] = x.toExponential(decimals).split("e");
    return `${Number(digits)}e${Number(exponent)}`;
}

/**
 * So many digits that two numbers are seen to differ; `null` where they do not, but for rounding.
 * @param {number} a
 * @param {number} b
 */
export function digitsApart(a, b) {
    if (!(Math.abs(a - b) > ROUNDING * Math.max(Math.abs(a), Math.abs(b)))) return null; // also where one is NaN
    let digits = DIGITS;
    while (short(a, digits) === short(b, digits)) digits++;
    return digits;
}

/** The first few of some names. @param {string[]} names @param {number} most */
export function firstOf(names, most) {
    return names.slice(0, most).join(", ") + (names.length > most ? ", \u2026" : "") || "\u2013";
}

/**
 * A fixed number of decimals, for columns.
 * @param {number | null | undefined} x
 * @param {number} [decimals]
 */
export function fixed(x, decimals = 3) {
    if (x === null || x === undefined || Number.isNaN(x)) return "\u2013";
    if (x !== 0 && Math.abs(x) < 0.5 * 10 ** -decimals) return short(x);
    return x.toFixed(decimals).replace("-", MINUS);
}

/** With its sign, also where it is positive. @param {number} x */
export function signed(x) {
    return x > 0 ? `+${short(x)}` : short(x);
}

/** 1 visit, 2 visits. @param {number} n @param {string} noun */
export function count(n, noun) {
    return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** A variable's name without the letter that says its kind. @param {string} name */
export function bare(name) {
    return name.replace(/^[SOA]_/, "") || name;
}

/**
 * The paper's short names: S1 is the first state declared, O3 the third observation.
 * @param {Api.Model} model
 * @returns {Map<string, string>}
 */
export function shortNames(model) {
    return new Map([
        ...model.states.map(({ name }, i) => /** @type {[string, string]} */ ([name, `S${i + 1}`])),
        ...model.observations.map(({ name }, i) => /** @type {[string, string]} */ ([name, `O${i + 1}`])),
        [model.action.name, "A"],
    ]);
}

/** Where in the tree a node is. @param {number} node @param {number} depth */
export function whereabouts(node, depth) {
    return node === 0 ? "the present slice" : `${count(depth, "step")} ahead, node ${node}`;
}

/** The slice after these actions: TS(t), TS(LEFT, UP). @param {string[]} names */
export function sliceName(names) {
    return names.length ? `TS(${names.join(", ")})` : "TS(t)";
}

/** The same, shortened in the middle. @param {string[]} names @param {number} [kept] */
export function shortSliceName(names, kept = 3) {
    return names.length > kept ? `TS(\u2026 ${names.slice(-kept).join(", ")})` : sliceName(names);
}

const measuring = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.documentElement).getPropertyValue("--font") || "sans-serif";
/** @type {Map<string, number>} */
const widths = new Map();

/** How wide a text is drawn, in pixels. @param {string} text @param {number} size of the font */
export function textWidth(text, size) {
    const key = `${size} ${text}`;
    let width = widths.get(key);
    if (width === undefined) {
        if (measuring) measuring.font = `${size}px ${FONT}`;
        width = measuring?.measureText(text).width ?? text.length * size * 0.6;
        if (widths.size > 5000) widths.clear();
        widths.set(key, width);
    }
    return width;
}

/**
 * The text, cut in the middle so that it fits: names often differ at their ends.
 * @param {string} text
 * @param {number} width
 * @param {number} size of the font
 */
export function fitted(text, width, size) {
    if (textWidth(text, size) <= width) return text;
    for (let kept = Math.min(text.length - 1, Math.ceil((text.length * width) / textWidth(text, size))); kept > 1; kept--) {
        const head = Math.ceil(0.6 * kept);
        const cut = `${text.slice(0, head)}\u2026${text.slice(text.length - (kept - head))}`;
        if (textWidth(cut, size) <= width) return cut;
    }
    return "";
}

/**
 * The text in one line or two, broken where a word ends if that is possible.
 * @param {string} text
 * @param {number} width
 * @param {number} size of the font
 * @param {number} [below] the width of the second line
 */
export function inLines(text, width, size, below = width) {
    if (textWidth(text, size) <= width) return [text];
    let end = text.length;
    while (end > 1 && textWidth(text.slice(0, end), size) > width) end--;
    const word = Math.max(...["_", " ", "-"].map((mark) => text.lastIndexOf(mark, end - 1))) + 1;
    const at = word > end / 3 ? word : end;
    return [text.slice(0, at), fitted(text.slice(at), below, size)];
}

// Where one is in the page: the cursor into the trace, the view, and what a view is set to. It is the address's
// fragment, so that an address reproduces exactly what is seen, and the server never sees it.

import { PAGES } from "./pages.js";

/**
 * @typedef {object} Place
 * @property {number | null} trial `null`: where the server says to begin
 * @property {number | null} cycle
 * @property {number | null} iteration `null`: the last
 * @property {number} node
 * @property {string} view
 * @property {string} [state] the variable whose beliefs are shown
 * @property {string} [edge] the message shown, "S_x>f_S_x"
 * @property {string} [part] the part of the expected free energy taken apart
 * @property {string} [against] the action that the chosen one is compared with
 * @property {string} [pair] the states of the heat map, "S_x,S_y"; "off" for none
 * @property {string} [step] of the planned path, for the heat map
 * @property {string} [visits] nodes with fewer are left out of the whole tree
 * @property {string} [zoom] of the whole tree, "2,-0.3,0.1": magnification and shift
 * @property {string} [sort] of the trials, "reward"; "-reward" is descending
 * @property {string} [what] what-if, as JSON
 * @property {string} [when] the beliefs that a what-if compares: "after" the action; else those of now
 * @property {string} [tables] the figures whose numbers are shown as tables, "beliefs,efe"
 */

const NUMBERS = ["trial", "cycle", "iteration", "node"];
const SETTINGS = ["state", "edge", "part", "against", "pair", "step", "visits", "zoom", "sort", "what", "when", "tables"];

/** @param {string} hash @returns {Place} */
export function readPlace(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    const number = (/** @type {string} */ key) => {
        const text = given.get(key);
        return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
    };
    const view = given.get("view") ?? "";
    const settings = SETTINGS.filter((key) => given.has(key)).map((key) => [key, given.get(key)]);
    return {
        trial: number("trial"),
        cycle: number("cycle"),
        iteration: number("iteration"),
        node: number("node") ?? 0,
        view: Object.hasOwn(PAGES, view) ? view : Object.keys(PAGES)[0],
        ...Object.fromEntries(settings),
    };
}

/** @param {Place} place */
export function writePlace(place) {
    const fields = /** @type {Record<string, any>} */ (place);
    const given = [...NUMBERS, "view", ...SETTINGS].filter((key) => fields[key] !== null && fields[key] !== undefined);
    return `#${given.map((key) => `${key}=${encodeURIComponent(fields[key])}`).join("&")}`;
}

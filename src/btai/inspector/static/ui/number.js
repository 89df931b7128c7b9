// A number as people read it, with the exact number beside it for whoever looks closer.

import { fixed, short } from "../lib/format.js";
import { html } from "../lib/html.js";

/**
 * @param {{value: number | null | undefined, decimals?: number, digits?: number, id?: string}} props
 * `decimals`: so many, for columns; without it about four significant digits, or `digits`. `id`: a name to find the number by.
 */
export function Num({ value, decimals, digits, id }) {
    const text = decimals === undefined ? short(value, digits) : fixed(value, decimals);
    return html`<data value=${value ?? ""} data-id=${id} title=${exact(value, text)}>${text}</data>`;
}

/**
 * All digits, where what is shown has fewer.
 * @param {number | null | undefined} value
 * @param {string} text
 */
function exact(value, text) {
    return typeof value === "number" && !Number.isInteger(value) && String(value).length > text.length ? value : undefined;
}

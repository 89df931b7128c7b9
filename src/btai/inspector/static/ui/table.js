// The numbers of a chart as a table.

import { html } from "../lib/html.js";
import { Num } from "./number.js";
import { breakable } from "./words.js";

/**
 * @typedef {object} Table
 * @property {string} caption
 * @property {string[]} columns
 * @property {(string | number | null | undefined)[][]} rows numbers are shown as numbers, `null` as a dash
 * @property {number} [marked] a row that stands out, such as the sum
 */

const SHOWN = 400;
const MANY = 6; // columns, that stand closer together

/** @param {{table: Table}} props */
export function DataTable({ table: { caption, columns, rows, marked } }) {
    const numeric = columns.map((_, column) => rows.some((row) => typeof row[column] === "number"));
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${caption}>
        <table class=${columns.length > MANY ? "data wide" : "data"}>
            <caption>${caption}</caption>
            <thead>
                <tr>${columns.map((label, i) => html`<th scope="col" class=${numeric[i] ? "numeric" : ""}>${breakable(label)}</th>`)}</tr>
            </thead>
            <tbody>
                ${rows.slice(0, SHOWN).map((row, r) => html`<tr class=${r === marked ? "marked" : ""}>
                    ${row.map((item, i) => html`<${Field} item=${item} numeric=${numeric[i]} head=${i === 0} />`)}
                </tr>`)}
            </tbody>
        </table>
        ${rows.length > SHOWN && html`<p class="quiet">The first ${SHOWN} of ${rows.length.toLocaleString("en")} rows.</p>`}
    </div>`;
}

/** @param {{item: string | number | null | undefined, numeric: boolean, head: boolean}} props */
function Field({ item, numeric, head }) {
    const content = typeof item === "string" ? breakable(item) : html`<${Num} value=${item} />`;
    if (head) return html`<th scope="row" class=${numeric ? "numeric" : ""}>${content}</th>`;
    return html`<td class=${numeric ? "numeric" : ""}>${content}</td>`;
}

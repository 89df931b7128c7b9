// One observation in the what-if form: as it was, another value, not observed, or softened.

import { short } from "../lib/format.js";
import { html } from "../lib/html.js";
import { breakable } from "../ui/words.js";

const AS_OBSERVED = "as observed";
const CLEARED = "cleared";
const SOFTENED = "softened";

/**
 * @typedef {undefined | null | number | {soften: number}} Change as the server takes it; `undefined`: as observed,
 *     `null`: not observed
 */

/** @type {Map<string, Change>} */
const MEANING = new Map([
    [AS_OBSERVED, undefined],
    [CLEARED, null],
    [SOFTENED, { soften: 0.2 }],
]);

/**
 * @param {object} props
 * @param {Api.Observation} props.observation
 * @param {string | undefined} props.observed
 * @param {Change} props.change
 * @param {(change: Change) => void} props.onChange
 */
export function EvidenceField({ observation: { name, values }, observed, change, onChange }) {
    const softened = typeof change === "object" && change !== null;
    const now = change === undefined ? AS_OBSERVED : change === null ? CLEARED : softened ? SOFTENED : String(change);
    const choose = (/** @type {Event} */ event) => {
        const { value } = /** @type {HTMLSelectElement} */ (event.target);
        onChange(MEANING.has(value) ? MEANING.get(value) : Number(value));
    };
    const soften = (/** @type {Event} */ event) => onChange({ soften: Number(/** @type {HTMLInputElement} */ (event.target).value) });
    return html`<div class=${`field${change === undefined ? "" : " changed"}`}>
        <label><span>${breakable(name)}</span>
            <select name=${name} value=${now} onChange=${choose}>
                <option value=${AS_OBSERVED}>${observed === undefined ? "not observed" : `as observed: ${observed}`}</option>
                ${observed !== undefined && html`<option value=${CLEARED}>not observed</option><option value=${SOFTENED}>softened…</option>`}
                <optgroup label="another value">${values.map((value, i) => html`<option value=${String(i)}>${value}</option>`)}</optgroup>
            </select>
        </label>
        ${softened && html`<label class="soften"><span>other values ${short(change.soften)} times as credible</span>
            <input type="range" min="0" max="1" step="0.01" value=${change.soften} onInput=${soften} aria-label=${`How credible the other values of ${name} are`} /></label>`}
    </div>`;
}

// What stands where something is still to come. It shows itself only after a moment, so that quick answers do not flicker.

import { html } from "../lib/html.js";

/** @param {{what?: string}} props */
export function Waiting({ what = "Working\u2026" }) {
    return html`<p class="empty waiting" role="status" aria-busy="true">${what}</p>`;
}

// Small drawings on buttons; always beside or instead of words that assistive technology hears.

import { html } from "../lib/html.js";

const PATHS = {
    play: "M5 3.5v9l7.5-4.5z",
    pause: "M4.5 3.5h2.5v9H4.5zM9 3.5h2.5v9H9z",
    next: "M4.5 3.5v9l5.5-4.5zM10.5 3.5h1.5v9h-1.5z",
    previous: "M11.5 3.5v9L6 8zM4 3.5h1.5v9H4z",
    first: "M12.5 3.5v9L8 8zM8 3.5v9L3.5 8z",
    last: "M3.5 3.5v9L8 8zM8 3.5v9l4.5-4.5z",
    table: "M2.5 3h11v10h-11zM3.7 6.2v2h3.4v-2zM8.3 6.2v2h4v-2zM3.7 9.6v2.2h3.4V9.6zM8.3 9.6v2.2h4V9.6z",
    more: "M3.6 6.8a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4zM8 6.8a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4zM12.4 6.8a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4z",
    plus: "M7.2 3h1.6v4.2H13v1.6H8.8V13H7.2V8.8H3V7.2h4.2z",
    minus: "M3 7.2h10v1.6H3z",
    fit: "M2.5 2.5h4v1.4H3.9v2.6H2.5zM9.5 2.5h4v4h-1.4V3.9H9.5zM2.5 9.5h1.4v2.6h2.6v1.4h-4zM12.1 9.5h1.4v4h-4v-1.4h2.6z",
    swap: "M5 2.5 2 5.5l3 3V6.2h8V4.8H5zM11 7.5v2.3H3v1.4h8v2.3l3-3z",
    up: "M8 3 3.5 8H7v5h2V8h3.5z",
    close: "M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
};

/** @param {{name: keyof typeof PATHS}} props */
export function Icon({ name }) {
    return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d=${PATHS[name]} fill-rule="evenodd" />
    </svg>`;
}

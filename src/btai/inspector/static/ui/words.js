// Names of variables and actions, which have no spaces.

import { html } from "../lib/html.js";

/** A name that may go on in the next line after each of its words. @param {string} name */
export function breakable(name) {
    return name.split(/(?<=_)/).map((word, i) => html`${i > 0 && html`<wbr />`}${word}`);
}

// The path from the present slice to the node, each step a button.

import { useApp } from "../app-context.js";
import { whereabouts } from "../lib/format.js";
import { html } from "../lib/html.js";
import { namesTo } from "../tree/near.js";
import { Icon } from "../ui/icons.js";

export function Trail() {
    const app = useApp();
    const { cursor, loaded } = app;
    const search = loaded?.search;
    const nodes = [cursor.node];
    while (search && nodes[0] !== 0) nodes.unshift(search.parents[nodes[0]]);
    const names = namesTo(app, cursor.node);
    const label = (/** @type {number} */ i) => (i === 0 ? "TS(t)" : names[i - 1]);
    return html`<nav class="trail" aria-label="Path to this slice">
        <button class="quiet-button" onClick=${() => app.go({ view: "visualisation" }, { remember: true })}><${Icon} name="up" />Tree</button>
        <ol>${nodes.map((node, i) => html`<li>
            ${i === nodes.length - 1
                ? html`<b aria-current="location">${label(i)}</b>`
                : html`<button class="link" onClick=${() => app.go({ node }, { remember: true })}>${label(i)}</button>`}
        </li>`)}</ol>
        <span class="note">${whereabouts(cursor.node, nodes.length - 1)}</span>
    </nav>`;
}

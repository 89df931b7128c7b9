// How to read the page, on demand.

import { useApp } from "../app-context.js";
import { html, useRef } from "../lib/html.js";
import { PAGES } from "../pages.js";

const KEYS = [
    ["← →", "previous, next planning iteration"],
    ["Shift ← →", "previous, next cycle"],
    ["↑ ↓", "to the parent, to the most visited child"],
    ["Home End", "first, last iteration of the cycle"],
    ["Space", "play, pause"],
];

export function HelpButton() {
    const { info } = useApp();
    const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
    return html`<button class="quiet-button" onClick=${() => dialog.current?.showModal()}>Help</button>
        <dialog class="help" ref=${dialog} aria-label="How to read this page" onClick=${(/** @type {Event} */ e) => e.target === dialog.current && dialog.current?.close()}>
            <div class="help-body">
                <h2>How to read this page</h2>
                <p>The agent goes through <b>cycles</b>: it observes, infers, plans, acts. In each cycle its planning
                    grows a tree, one <b>iteration</b> after the other: a node is selected, one child per action is added, and what they cost is passed up to the root.
                    The timeline at the bottom goes to any cycle and any iteration.</p>
                <dl>
                    ${Object.values(PAGES).map(({ name, about }) => html`<dt>${name}</dt><dd>${about}</dd>`)}
                </dl>
                <h3>Keyboard</h3>
                <dl class="keys">${KEYS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>
                <p class="quiet">Every chart can show its numbers as a table, and be saved or copied as Python from its menu.
                    btai ${info.version}, ${info.agent.class}, exploration constant ${info.agent.exp_const}.</p>
                <form method="dialog"><button class="primary" autofocus>Close</button></form>
            </div>
        </dialog>`;
}

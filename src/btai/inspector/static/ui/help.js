// How to read the page, on demand.

import { useApp } from "../app-context.js";
import { html, useRef } from "../lib/html.js";

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
                    <dt>Visualisation</dt><dd>The environment and the tree. Click a child to go there, click the node itself to open its slice. The node
                        with the red frame was expanded last, green is the best action, orange is not expanded yet.</dd>
                    <dt>Temporal slice</dt><dd>What the agent believes at a node, now or in an imagined future, and what that future costs.</dd>
                    <dt>Why</dt><dd>The chosen action against any other: when they parted, and which term decided.</dd>
                    <dt>What if</dt><dd>Other observations, more planning, another action: both outcomes side by side.</dd>
                    <dt>Trials</dt><dd>All trials of the run, each to be opened at its worst cycle.</dd>
                </dl>
                <h3>Keyboard</h3>
                <dl class="keys">${KEYS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>
                <p class="quiet">Every chart can show its numbers as a table, and be saved or copied as Python from its menu.
                    btai ${info.version}, ${info.agent.class}, exploration constant ${info.agent.exp_const}.</p>
                <form method="dialog"><button class="primary" autofocus>Close</button></form>
            </div>
        </dialog>`;
}

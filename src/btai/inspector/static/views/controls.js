// The buttons of the paper: reset, next planning iteration, finish planning, perform an action. At the live end they
// command the environment and the agent; everywhere else they move along what was recorded.

import { useApp } from "../app-context.js";
import { count } from "../lib/format.js";
import { html, useState } from "../lib/html.js";

export function Controls() {
    const app = useApp();
    const live = app.info.can.command && app.atEnd({ ...app.place, ...app.cursor });
    return html`<div class="controls">
        ${live ? html`<${LiveButtons} />` : html`<${ReplayButtons} />`}
    </div>`;
}

function LiveButtons() {
    const app = useApp();
    const { cursor, live, loaded, info } = app;
    const cycle = /** @type {Api.Cycle} */ (loaded?.cycle);
    const { action } = info.model;
    const [byHand, setByHand] = useState(0);
    const budget = cycle.budget ?? Infinity;
    const idle = !live.busy && !live.over;
    const best = cursor.iteration ? loaded?.search.best[cursor.iteration - 1] : undefined;
    return html`
        <button class="wide" disabled=${!idle} onClick=${() => app.command({ command: "plan", iterations: 1 })}>Next planning iteration</button>
        ${live.busy && live.command !== "plan"
            ? html`<button onClick=${() => app.command({ command: "stop" })}>Stop planning</button>`
            : html`<button disabled=${!idle || cursor.iteration >= budget} onClick=${() => app.command({ command: "finish" })}
                data-tip=${Number.isFinite(budget) ? `Up to ${count(budget, "iteration")}` : undefined}>Finish planning</button>`}
        <button disabled=${live.busy} data-tip="A new trial" onClick=${() => app.command({ command: "reset" })}>Reset</button>
        <button class="primary" disabled=${!idle || best === undefined} data-tip=${best === undefined ? "Plan first" : action.values[best]} onClick=${() => app.command({ command: "act" })}>
            Perform best action${best === undefined ? "" : html`: <b>${action.values[best]}</b>`}
        </button>
        <div class="by-hand">
            <select aria-label="Action to perform by hand" disabled=${!idle} value=${byHand}
                onChange=${(/** @type {Event} */ e) => setByHand(Number(/** @type {HTMLSelectElement} */ (e.target).value))}>
                ${action.values.map((name, i) => html`<option value=${i}>${name}</option>`)}
            </select>
            <button disabled=${!idle} onClick=${() => app.command({ command: "act", action: byHand })}>Perform by hand</button>
        </div>
        ${live.over && html`<p class="quiet">The trial is over. Reset begins a new one.</p>`}`;
}

function ReplayButtons() {
    const app = useApp();
    const { cursor, loaded, trial, info } = app;
    const cycle = /** @type {Api.Cycle} */ (loaded?.cycle);
    const last = (trial?.cycles.length ?? 1) - 1;
    const { iteration } = cursor;
    return html`
        <button class="wide" disabled=${iteration >= cycle.iterations} onClick=${() => app.go({ iteration: iteration + 1 })}>Next planning iteration</button>
        <button disabled=${iteration >= cycle.iterations} onClick=${() => app.go({ iteration: cycle.iterations })}>Finish planning</button>
        <button disabled=${cursor.cycle === 0 && iteration === 0} onClick=${() => app.go({ cycle: 0, iteration: 0 })}>Reset</button>
        <button class="primary" disabled=${cursor.cycle >= last} data-tip=${cycle.action_name ?? undefined} onClick=${() => app.go({ cycle: cursor.cycle + 1, iteration: 0 })}>
            Perform ${cycle.action === null ? "action" : html`<b>${cycle.action_name}</b>`}
        </button>
        ${info.can.command
            ? html`<p class="quiet">This is the past, and the buttons move along it. <button class="link" onClick=${() => app.follow()}>Back to now</button></p>`
            : html`<p class="quiet">Recorded: these buttons move along it.</p>`}`;
}

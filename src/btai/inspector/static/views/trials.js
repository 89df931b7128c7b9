// The trials of a run: sortable, each to be opened at its worst cycle.

import { useApp } from "../app-context.js";
import { html, useState } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { CopyButton } from "../ui/copy.js";
import { Num } from "../ui/number.js";
import { Waiting } from "../ui/waiting.js";

const PAGE = 100;

/** @type {{key: keyof Api.Trial, label: string, numeric?: boolean}[]} */
const COLUMNS = [
    { key: "trial", label: "trial", numeric: true },
    { key: "reward", label: "reward", numeric: true },
    { key: "cycles", label: "cycles", numeric: true },
    { key: "finished", label: "ended by" },
    { key: "planning_iterations", label: "planning iterations", numeric: true },
    { key: "seconds", label: "seconds", numeric: true },
    { key: "initial_state", label: "start" },
    { key: "seed", label: "seed", numeric: true },
];

/** The figures of the run's summary that are shown. */
const TILES = {
    p_solved: "share solved",
    reward_mean: "mean reward",
    cycles_mean: "mean cycles",
    finished: "completed",
    seconds_per_trial: "seconds per trial",
    microseconds_per_planning_iteration: "µs per iteration",
};

export function Trials() {
    const app = useApp();
    const { value, error } = useData("trials", {});
    const down = app.place.sort?.startsWith("-") ?? false;
    const key = COLUMNS.find((column) => column.key === app.place.sort?.replace("-", ""))?.key ?? "trial";
    const [pages, setPages] = useState(1);
    if (error) return html`<p class="empty">${error.message}</p>`;
    if (!value) return html`<${Waiting} />`;
    const sorted = ordered(value.trials, key, down);
    const direction = down ? "descending" : "ascending";
    return html`<div class="trials">
        <${Summary} trials=${value} />
        <section class="panel" data-figure="trials">
            <header class="panel-head"><h2>Trials</h2><span class="note">a click on a column sorts by it, another reverses the order</span>
                <span class="panel-tools">${app.info.mode !== "live" && html`<${CopyButton} class="quiet-button" text=${pythonFor(app, "trials")}>Copy as Python<//>`}</span></header>
            <div class="table-scroll" tabindex="0" role="region" aria-label="Trials">
                <table class="data sortable">
                    <thead><tr>
                        ${COLUMNS.map((column) => html`<th scope="col" class=${column.numeric ? "numeric" : ""} aria-sort=${column.key === key ? direction : "none"}>
                            <button onClick=${() => app.go({ sort: column.key === key && !down ? `-${key}` : column.key })}>${column.label}
                                <span class="sort-mark" aria-hidden="true">${column.key === key ? (down ? "↓" : "↑") : ""}</span></button>
                        </th>`)}
                        <th scope="col"><span class="visually-hidden">open</span></th>
                    </tr></thead>
                    <tbody>${sorted.slice(0, pages * PAGE).map((trial) => html`<${Row} key=${trial.trial} trial=${trial} current=${trial.trial === app.cursor.trial} />`)}</tbody>
                </table>
                ${sorted.length > pages * PAGE && html`<p class="more"><button onClick=${() => setPages(pages + 1)}>Show more</button>
                    <span class="quiet">${pages * PAGE} of ${sorted.length.toLocaleString("en")}</span></p>`}
            </div>
        </section>
    </div>`;
}

/** @param {{trial: Api.Trial, current: boolean}} props */
function Row({ trial, current }) {
    const app = useApp();
    const openWorst = async () => {
        const answer = app.cache.ask("worst", { trial: trial.trial });
        await answer.promise;
        if (answer.error) app.say(answer.error.message);
        else app.go({ trial: trial.trial, cycle: answer.value.cycle ?? 0, view: "why" }, { remember: true });
    };
    const openStart = () => app.go({ trial: trial.trial, cycle: 0, view: "visualisation" }, { remember: true });
    return html`<tr class=${current ? "marked" : ""} aria-current=${current ? "true" : undefined} data-trial=${trial.trial}>
        <th scope="row" class="numeric">${trial.trial}</th>
        <td class="numeric"><${Num} value=${trial.reward} decimals=${3} /></td>
        <td class="numeric"><${Num} value=${trial.cycles} /></td>
        <td>${trial.finished ? "the environment" : trial.over ? "the step limit" : "not over"}</td>
        <td class="numeric"><${Num} value=${trial.planning_iterations} /></td>
        <td class="numeric"><${Num} value=${trial.seconds} decimals=${3} /></td>
        <td>${startOf(trial)}</td>
        <td class="numeric seed">${trial.seed}</td>
        <td class="open">${trial.recorded
            ? html`<button onClick=${openStart} aria-label=${`Open trial ${trial.trial} at its start`}>Open</button>
                  <button onClick=${openWorst} aria-label=${`Open trial ${trial.trial} at its worst cycle`} data-tip="The cycle whose performed action had the highest mean cost">Worst cycle</button>`
            : html`<span class="quiet">${app.info.mode === "export" ? "not in this page" : "not recorded"}</span>`}</td>
    </tr>`;
}

/** The state a trial began in: its numbers, with their names if they have any. @param {Api.Trial} trial */
function startOf({ initial_state: start }) {
    if (start === null || typeof start !== "object") return start === null ? null : String(start);
    if (Array.isArray(start)) return start.join(", ");
    return Object.entries(start).map(([name, value]) => `${name}=${value}`).join(", ");
}

/** @param {{trials: Api.Trials}} props */
function Summary({ trials: { trials, expected, summary } }) {
    const figures = Object.entries(TILES).flatMap(([key, label]) => {
        const value = summary?.[key];
        return typeof value === "number" ? [{ label, value }] : [];
    });
    return html`<dl class="tiles">
        <div><dt>trials</dt><dd>${trials.length.toLocaleString("en")}${expected && expected > trials.length ? ` of ${expected.toLocaleString("en")}` : ""}</dd></div>
        ${figures.map(({ label, value }) => html`<div><dt>${label}</dt><dd><${Num} value=${value} id=${label} /></dd></div>`)}
    </dl>`;
}

/**
 * @param {Api.Trial[]} trials
 * @param {keyof Api.Trial} key
 * @param {boolean} down
 */
function ordered(trials, key, down) {
    const value = (/** @type {Api.Trial} */ trial) => {
        return key === "initial_state" ? startOf(trial) : trial[key];
    };
    const compare = (/** @type {any} */ a, /** @type {any} */ b) => {
        if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0); // what is unknown comes last
        const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b);
        return down ? -order : order;
    };
    return [...trials].sort((a, b) => compare(value(a), value(b)) || a.trial - b.trial);
}

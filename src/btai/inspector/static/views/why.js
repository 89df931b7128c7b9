// Why the action was chosen: against any other one, over the planning iterations, and term by term.

import { useApp } from "../app-context.js";
import { Lines } from "../charts/lines.js";
import { floats, integers } from "../data/packed.js";
import { short } from "../lib/format.js";
import { html, useMemo } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";
import { Waiting } from "../ui/waiting.js";
import { ActionTable } from "./action-table.js";
import { Differences } from "./differences.js";

const PAUSE = 250; // what is asked for is worked out from the whole search: wait for the end of a scrub
const IN_TABLE = 300;

export function Why() {
    const app = useApp();
    const { trial, cycle, iteration } = app.cursor;
    const { value: found, stale: late } = useData("curves", { trial, cycle });
    const curves = found?.iterations ? found : undefined; // those of the cycle before may have none
    const { value: why, error, stale } = useData("why", iteration > 0 ? { trial, cycle, iteration } : null, PAUSE);
    if (iteration === 0) return html`<${Unplanned} />`;
    const chosen = why?.chosen ?? curves?.chosen ?? 0;
    const against = rival(why, chosen, app.place.against);
    return html`<div class="why">
        <${Verdict} why=${why} against=${against} busy=${stale} />
        ${error && html`<p class="empty">${error.message}</p>`}
        ${curves && html`<${CurveFigure} what="visits" title="Visits of each action" curves=${curves} chosen=${chosen} against=${against} busy=${late} />
            <${CurveFigure} what="mean_cost" title="Mean cost of each action" curves=${curves} chosen=${chosen} against=${against} busy=${late} />`}
        ${why && html`<${Differences} why=${why} against=${against} busy=${stale} />
            <${ActionTable} actions=${why.actions} chosen=${why.chosen} against=${against} busy=${stale}
                python=${pythonFor(app, "why", { action: against, chosen: why.chosen })} />`}
    </div>`;
}

/** There is nothing to explain: say where there is. */
function Unplanned() {
    const app = useApp();
    const { search } = /** @type {import("../session.js").Loaded} */ (app.loaded);
    if (search.iterations) {
        return html`<div class="empty"><p>At iteration 0 nothing is planned yet, so there is no choice to explain.</p>
            <p><button onClick=${() => app.go({ iteration: search.iterations })}>To the end of the planning</button></p></div>`;
    }
    return html`<div class="empty"><p>In this cycle nothing ${app.info.can.command && !app.live.over ? "is planned yet" : "was planned"}, so there is no choice to explain.</p>
        ${app.canStepCycle(-1) && html`<p><button onClick=${() => app.stepCycle(-1)}>To the decision before</button></p>`}</div>`;
}

/**
 * The action to compare with: the one asked for, else the most visited other one.
 * @param {Api.Why | undefined} why
 * @param {number} chosen
 * @param {string | undefined} wanted
 */
function rival(why, chosen, wanted) {
    const others = (why?.actions ?? []).filter(({ action }) => action !== chosen);
    const asked = others.find(({ action }) => String(action) === wanted);
    return (asked ?? [...others].sort((a, b) => b.visits - a.visits || a.mean_cost - b.mean_cost)[0])?.action ?? 0;
}

/** The answer in a sentence. @param {{why: Api.Why | undefined, against: number, busy: boolean}} props */
function Verdict({ why, against, busy }) {
    const app = useApp();
    if (!why) return html`<section class="panel verdict"><${Waiting} what="Taking the search apart\u2026" /></section>`;
    const ours = why.actions[why.chosen];
    const difference = why.against.find(({ action }) => action === against);
    const choose = (/** @type {Event} */ event) => app.go({ against: /** @type {HTMLSelectElement} */ (event.target).value });
    const final = why.iteration === app.loaded?.search.iterations;
    const other = why.performed !== null && why.performed !== why.chosen && why.actions[why.performed].name;
    return html`<section class="panel verdict" aria-busy=${busy}>
        <p>
            ${final ? html`<${Chosen} name=${ours.name} /> was chosen` : html`After iteration ${why.iteration}, <${Chosen} name=${ours.name} /> is ahead`}${other
                ? html`; in the end <b>${other}</b> was performed` : ""}. Against
            <select aria-label="Action to compare with" value=${String(against)} onChange=${choose}>
                ${why.actions.filter(({ action }) => action !== why.chosen).map(({ action, name }) => html`<option value=${String(action)}>${name}</option>`)}
            </select>
            ${difference && sentence(difference)}
        </p>
        ${why.iteration !== app.cursor.iteration && !busy && html`<p class="quiet">The nearest iteration that this page can explain.</p>`}
    </section>`;
}

/** @param {{name: string}} props */
function Chosen({ name }) {
    return html`<b class="chosen-action">${name}</b>`;
}

/** @param {Api.Why["against"][number]} difference */
function sentence({ difference, deciding, terms, tied }) {
    if (difference === 0) return html`it costs the same.`;
    const first = tied ? html`<b>practically tied</b>: ` : "";
    const decider = deciding && terms.length > 1 ? html`, mainly by the <b>${deciding}</b>` : "";
    return html`it is ${first}<b>${short(Math.abs(difference))}</b> ${difference > 0 ? "cheaper" : "dearer"} per visit${decider}.`;
}

/**
 * @param {object} props
 * @param {"visits" | "mean_cost"} props.what
 * @param {string} props.title
 * @param {Api.Curves} props.curves
 * @param {number} props.chosen
 * @param {number} props.against
 * @param {boolean} props.busy
 */
function CurveFigure({ what, title, curves, chosen, against, busy }) {
    const app = useApp();
    const { values: names } = app.info.model.action;
    const { n_actions: actions, iterations } = curves;
    const series = useMemo(() => {
        const all = what === "visits" ? integers(curves.visits) : floats(curves.mean_cost);
        return names.map((_, action) => Float64Array.from({ length: iterations }, (_, k) => all[k * actions + action]));
    }, [curves, what]);
    const role = (/** @type {number} */ action) => (action === chosen ? "chosen" : action === against ? "against" : "other");
    const parted = curves.chosen === chosen ? curves.parted[against] : null;
    const stride = Math.max(1, Math.ceil(iterations / IN_TABLE));
    const rows = Array.from({ length: iterations }, (_, k) => k + 1).filter((k) => k % stride === 0 || k === iterations);
    return html`<${Figure} name=${`curve-${what.replace("_", "-")}`} title=${title} note="over planning iterations" busy=${busy} python=${pythonFor(app, "curves", { iteration: iterations })}
        table=${() => ({
            caption: title + (stride > 1 ? `, every ${stride} iterations` : ""),
            columns: ["iteration", ...names],
            rows: rows.map((k) => [k, ...series.map((values) => values[k - 1])]),
        })}>
        <${Measured}>${(/** @type {{width: number, height: number}} */ size) => html`<${Lines} ...${size} iteration=${app.cursor.iteration} parted=${parted}
            whole=${what === "visits"} label=${`${title} over planning iterations`} onPick=${(/** @type {number} */ iteration) => app.go({ iteration })}
            curves=${names.map((name, action) => ({ name, values: series[action], role: role(action) }))} />`}<//>
    <//>`;
}


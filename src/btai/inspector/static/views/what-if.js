// What if something had been observed, planned or done otherwise: both outcomes side by side. The original is untouched.

import { useApp } from "../app-context.js";
import { html, useEffect, useState } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { EvidenceField } from "./evidence-field.js";
import { Outcomes } from "./outcomes.js";

const MOST = 100_000; // planning iterations that the server does at once

/**
 * What is changed, as the server takes it and as the address has it.
 * @typedef {{evidence?: Record<string, any>, exp_const?: number, iterations?: number, action?: number}} Changes
 */

export function WhatIf() {
    const app = useApp();
    const { info, cursor, place } = app;
    const answer = useAnswer(cursor.trial, cursor.cycle, place.what);
    const [edited, setEdited] = useState(false); // the form says something else than was asked
    if (!info.can.what_if) return html`<p class="empty">An exported page only shows. Run <code>btai inspect RUNFILE</code> to try things out.</p>`;
    return html`<div class="what-if">
        <${Form} key=${place.what} busy=${answer.busy} onEdit=${setEdited} />
        ${answer.error && html`<p class="empty" role="alert">${answer.error.message}</p>`}
        ${answer.value && !answer.error && html`<${Outcomes} original=${answer.value.original} altered=${answer.value.altered} busy=${answer.busy} stale=${edited || answer.busy}
            python=${pythonFor(app, "what_if", wordsFor(app, read(place.what), answer.value.altered))} />`}
        ${place.what && !answer.value && !answer.error && html`<p class="empty" role="status" aria-busy="true">Planning again\u2026</p>`}
        ${!place.what && html`<${Suggestions} />`}
    </div>`;
}

/** What one might ask, for a beginning. */
function Suggestions() {
    const app = useApp();
    const { cycle } = /** @type {import("../session.js").Loaded} */ (app.loaded);
    const seen = Object.keys(cycle.observed)[0];
    const others = app.info.model.action.values.map((name, action) => ({ name, action })).filter(({ action }) => action !== cycle.action);
    /** @type {[string, Changes][]} */
    const ideas = [];
    if (seen) ideas.push([`\u2026 it had not observed ${seen}?`, { evidence: { [seen]: null } }]);
    if (cycle.iterations) ideas.push([`\u2026 it had planned ten times as long?`, { iterations: Math.min(MOST, 10 * cycle.iterations) }]);
    if (others.length) ideas.push([`\u2026 it had to do ${others[0].name}?`, { action: others[0].action }]);
    return html`<div class="empty">
        <p>Change what was observed, how long or how boldly the agent plans, or what it does.
            Both outcomes then stand here side by side. What ${app.info.can.command ? "happened" : "was recorded"} stays as it is.</p>
        <p class="ideas">What if ${ideas.map(([text, changes]) => html`<button onClick=${() => app.go({ what: JSON.stringify(changes) }, { remember: true })}>${text}</button>`)}</p>
    </div>`;
}

/**
 * What the template for Python leaves open.
 * @param {import("../session.js").Session} app
 * @param {Changes} changes
 * @param {Api.Outcome} altered
 */
function wordsFor({ info }, { evidence = {} }, altered) {
    const lines = Object.entries(evidence).map(([name, change]) => {
        const entry = `changed[${JSON.stringify(name)}]`;
        if (change === null) return `del ${entry}`;
        if (typeof change !== "object") return `${entry} = ${JSON.stringify(change)}`;
        return `${entry} = ${change.soften} + (1 - ${change.soften}) * ${entry} / ${entry}.max()`;
    });
    const choosing = info.agent.action_selection === "softmax" ? [] : ["action_selection", "ties"]; // it would need the random numbers
    const given = /** @type {Record<string, unknown>} */ ({ ...info.agent, exp_const: altered.exp_const });
    return {
        changes: lines.join("\n"),
        options: ["exp_const", "inference", "root", "engine", ...choosing].map((name) => `${name}=${JSON.stringify(given[name])}`).join(", "),
        iterations: altered.iterations,
        chosen: altered.forced || !choosing.length ? String(altered.chosen) : "other.choose()",
    };
}

/**
 * @param {number} trial
 * @param {number} cycle
 * @param {string | undefined} what
 */
function useAnswer(trial, cycle, what) {
    const { data, info } = useApp();
    const [answer, setAnswer] = useState(/** @type {{busy: boolean, value?: any, error?: Api.Failure}} */ ({ busy: false }));
    useEffect(() => {
        if (!what || !info.can.what_if) return setAnswer({ busy: false });
        let wanted = true;
        setAnswer((before) => ({ ...before, busy: true }));
        data.whatIf({ trial, cycle, ...read(what) }).then(
            (value) => wanted && setAnswer({ busy: false, value }),
            (error) => wanted && setAnswer({ busy: false, error }),
        );
        return () => void (wanted = false);
    }, [trial, cycle, what]);
    return answer;
}

/** @param {string | undefined} text @returns {Changes} */
function read(text) {
    try {
        return JSON.parse(text ?? "{}") ?? {};
    } catch {
        return {}; // An address that somebody mistyped.
    }
}

/** @param {{busy: boolean, onEdit: (edited: boolean) => void}} props */
function Form({ busy, onEdit }) {
    const app = useApp();
    const { info, cursor, loaded, place } = app;
    const [changes, setChanges] = useState(() => read(place.what));
    useEffect(() => onEdit(JSON.stringify(changes) !== JSON.stringify(read(place.what))), [changes]);
    const { observed = {}, iterations = 0 } = loaded?.cycle ?? {};
    const submit = (/** @type {Event} */ event) => {
        event.preventDefault();
        app.go({ what: JSON.stringify(changes) }, { remember: true });
    };
    const option = (/** @type {"exp_const" | "iterations" | "action"} */ name) => ({
        name,
        value: changes[name] ?? "",
        onInput: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLInputElement} */ (event.target);
            setChanges({ ...changes, [name]: value === "" ? undefined : Number(value) });
        },
    });
    const evidence = (/** @type {string} */ name) => (/** @type {any} */ change) =>
        setChanges({ ...changes, evidence: { ...changes.evidence, [name]: change } });
    return html`<form class="panel what-if-form" onSubmit=${submit} aria-label="What to change">
        <header class="panel-head"><h2>What if</h2><span class="note">in cycle ${cursor.cycle}</span></header>
        <div class="what-if-fields">
            <fieldset><legend>Observations</legend>
                ${info.model.observations.map((observation) => html`<${EvidenceField} key=${observation.name} observation=${observation}
                    observed=${observed[observation.name]} change=${changes.evidence?.[observation.name]} onChange=${evidence(observation.name)} />`)}
            </fieldset>
            <fieldset><legend>Planning</legend>
                <label class="field"><span>exploration constant</span>
                    <input type="number" step="any" min="0" placeholder=${info.agent.exp_const} ...${option("exp_const")} /></label>
                <label class="field"><span>planning iterations</span>
                    <input type="number" step="1" min="1" max=${MOST} placeholder=${iterations || (loaded?.cycle.budget ?? "")} ...${option("iterations")} /></label>
                <label class="field"><span>action</span>
                    <select ...${option("action")}>
                        <option value="">as planned</option>
                        ${info.model.action.values.map((name, i) => html`<option value=${i}>${name}</option>`)}
                    </select></label>
            </fieldset>
        </div>
        <footer class="form-foot">
            <button class="primary" type="submit" disabled=${busy}>${busy ? "Working…" : "See what happens"}</button>
            <button type="button" onClick=${() => (setChanges({}), app.go({ what: undefined }))}>Undo changes</button>
        </footer>
    </form>`;
}

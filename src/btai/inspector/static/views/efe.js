// The expected free energy of a future slice, taken apart: risk and ambiguity, the parts of each, the cells of a part.

import { useApp } from "../app-context.js";
import { Waterfall, partsThatFit } from "../charts/waterfall.js";
import { count, short } from "../lib/format.js";
import { html } from "../lib/html.js";
import { pythonFor, pythonTuple } from "../lib/python.js";
import { useData } from "../lib/resource.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";

/** @typedef {import("../charts/waterfall.js").Part} Part */
/** @typedef {{parts: Part[], sum: number, sumName: string, label: string}} Sum */

/** @param {{slice: Api.Node, busy: boolean}} props */
export function Efe({ slice, busy }) {
    const app = useApp();
    const efe = /** @type {Api.Efe} */ (slice.efe);
    const part = [...efe.risk, ...efe.ambiguity].find((one) => one.part === app.place.part);
    const { trial, cycle } = app.cursor;
    const { value, error, stale } = useData("cells", part ? { trial, cycle, node: slice.node, part: part.part } : null);
    const cells = value?.part === part?.part && !stale ? value : undefined;
    const sumIn = (/** @type {number} */ height) => (cells ? cellSum(cells, partsThatFit(height)) : partSum(app, efe, app.place.part));
    return html`<${Figure} name="efe" title="Expected free energy" busy=${busy || stale} choice=${html`<${Levels} efe=${efe} part=${part} />`}
        table=${() => (cells ? cellTable(cells) : sumTable(partSum(app, efe, app.place.part)))}
        python=${pythonFor(app, ...recipe(slice.node, part))}>
        <div class="efe">
            ${error && html`<p class="empty">${error.message}</p>`}
            ${(cells || !part) && html`<${Measured} scroll=${true}>${(/** @type {{width: number, height: number}} */ size) =>
                html`<${Waterfall} ...${sumIn(size.height)} ...${size} />`}<//>`}
            ${!part && html`<p class="quiet">Click a bar to take it apart.</p>`}
        </div>
    <//>`;
}

/** Where one is: the whole, one of the terms, one part of it. @param {{efe: Api.Efe, part: Api.RiskPart | Api.AmbiguityPart | undefined}} props */
function Levels({ efe, part }) {
    const app = useApp();
    const term = part ? part.part.split(":")[0] : app.place.part === "risk" || app.place.part === "ambiguity" ? app.place.part : undefined;
    const levels = [{ name: "whole", to: /** @type {string | undefined} */ (undefined) }];
    if (term) levels.push({ name: term, to: term });
    if (part) levels.push({ name: nameOf(part), to: part.part });
    return html`<nav class="levels" aria-label="Parts of the expected free energy"><ol>
        ${levels.map(({ name, to }, i) => html`<li>${i === levels.length - 1
            ? html`<b aria-current="location">${name}</b>`
            : html`<button class="link" onClick=${() => app.go({ part: to })}>${name}</button>`}</li>`)}
    </ol><span class="note">total ${short(efe.total)}</span></nav>`;
}

/** @param {Api.RiskPart | Api.AmbiguityPart} part */
function nameOf(part) {
    return "observations" in part ? part.observations.join(", ") : part.observation;
}

/**
 * @param {import("../session.js").Session} app
 * @param {Api.Efe} efe
 * @param {string | undefined} term
 * @returns {Sum}
 */
function partSum(app, efe, term) {
    const open = (/** @type {string} */ part) => () => app.go({ part });
    if (term === "risk" || term === "ambiguity") {
        return {
            parts: efe[term].map((part) => ({ name: nameOf(part), value: part.value, kind: term, onPick: open(part.part) })),
            sum: term === "risk" ? efe.risk_total : efe.ambiguity_total,
            sumName: `${term}, together`,
            label: `The parts of the ${term}`,
        };
    }
    return {
        parts: [
            { name: "risk", value: efe.risk_total, kind: "risk", onPick: open("risk") },
            { name: "ambiguity", value: efe.ambiguity_total, kind: "ambiguity", onPick: open("ambiguity") },
        ],
        sum: efe.total,
        sumName: "expected free energy",
        label: "Risk and ambiguity",
    };
}

const FEWEST = 4; // cells that are always shown one by one

/**
 * The largest cells, and the others together, so that one sees that they add up.
 * @param {Api.Cells} cells
 * @param {number} most parts that fit
 * @returns {Sum}
 */
function cellSum({ cells, rest, total, kind, variables }, most) {
    const all = cells.length + (rest.cells ? 1 : 0) <= most;
    const shown = all ? cells : cells.slice(0, Math.max(FEWEST, most - 1));
    const folded = cells.slice(shown.length);
    const others = { cells: rest.cells + folded.length, value: folded.reduce((sum, { value }) => sum + value, rest.value) };
    /** @type {Part[]} */
    const parts = shown.map((cell) => ({
        name: cell.labels.join(", ") || "(no parents)",
        value: cell.value,
        kind,
        tip: `${variables.map((name, i) => `${name} = ${cell.labels[i]}`).join("\n")}\n${workings(cell)} = ${short(cell.value)}`,
    }));
    if (others.cells) parts.push({ name: count(others.cells, "other cell"), value: others.value, kind: "rest", tip: `${count(others.cells, "other cell")}, together` });
    return { parts, sum: total, sumName: kind, label: `The cells of the ${kind}` };
}

/** How the value of a cell comes about. @param {Api.Cell} cell */
function workings({ marginals, preference, weight, entropy }) {
    if (!marginals) return `weight × entropy = ${short(weight)} × ${short(entropy)}`;
    const q = marginals.map((p) => short(p)).join(" × ");
    return `q (ln q − ln C), with q = ${q} and C = ${short(preference)}`;
}

/** @param {Sum} sum */
function sumTable({ parts, sum, sumName, label }) {
    const rows = [...parts.map(({ name, value }) => [name, value]), [sumName, sum]];
    return { caption: label, columns: ["part", "value"], rows, marked: rows.length - 1 };
}

/** @param {Api.Cells} cells */
function cellTable({ cells, rest, total, kind, variables }) {
    const risk = kind === "risk";
    const rows = cells.map(({ labels, marginals, preference, weight, entropy, value }) => [
        ...labels,
        ...(risk ? [marginals?.map((p) => short(p)).join(" × "), preference] : [weight, entropy]),
        value,
    ]);
    const blank = Array(variables.length + 1).fill("");
    rows.push([count(rest.cells, "other cell"), ...blank, rest.value], ["sum", ...blank, total]);
    return {
        caption: `The largest cells of the ${kind}`,
        columns: [...variables, ...(risk ? ["q", "C"] : ["weight", "entropy"]), "value"],
        rows,
        marked: rows.length - 1,
    };
}

/**
 * The template for Python, and its words.
 * @param {number} node
 * @param {Api.RiskPart | Api.AmbiguityPart | undefined} part
 * @returns {[string, Record<string, string | number>]}
 */
function recipe(node, part) {
    if (!part) return ["efe", { node }];
    if ("observations" in part) return ["risk", { node, group: pythonTuple(part.observations) }];
    return ["ambiguity", { node, observation: part.observation }];
}

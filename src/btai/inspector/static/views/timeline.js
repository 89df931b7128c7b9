// Cycles, and the planning iterations inside one: scrub, step, play.

import { useApp } from "../app-context.js";
import { fitted, textWidth } from "../lib/format.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { Icon } from "../ui/icons.js";
import { Measured } from "../ui/measured.js";
import { Player } from "./player.js";

const FONT = 11;

/** @param {{player: Player}} props */
export function Timeline({ player }) {
    const app = useApp();
    const [playing, setPlaying] = useState(player.playing);
    useEffect(() => player.onChange(setPlaying), [player]);
    const { cursor, loaded, info } = app;
    const iterations = loaded?.search.iterations ?? 0;
    const { iteration } = cursor;
    const scrub = (/** @type {Event} */ event) => app.go({ iteration: Number(/** @type {HTMLInputElement} */ (event.target).value) });
    const behind = info.can.command && !app.atEnd({ ...app.place, ...cursor });
    return html`<footer class="timeline" aria-label="Timeline" role="region">
        <${Cycles} />
        <div class="transport">
            <div class="transport-buttons">
                <button class="icon-button" aria-label="Previous cycle" data-tip="Previous cycle (Shift ←)" disabled=${!app.canStepCycle(-1)} onClick=${() => app.stepCycle(-1)}><${Icon} name="first" /></button>
                <button class="icon-button" aria-label="Previous planning iteration" data-tip="Previous iteration (←)" disabled=${iteration === 0} onClick=${() => app.stepIteration(-1)}><${Icon} name="previous" /></button>
                <button class="icon-button play" aria-label=${playing ? "Pause" : "Play"} data-tip=${playing ? "Pause (Space)" : "Play (Space)"} onClick=${() => player.toggle()}><${Icon} name=${playing ? "pause" : "play"} /></button>
                <button class="icon-button" aria-label="Next planning iteration" data-tip="Next iteration (→)" disabled=${iteration >= iterations} onClick=${() => app.stepIteration(1)}><${Icon} name="next" /></button>
                <button class="icon-button" aria-label="Next cycle" data-tip="Next cycle (Shift →)" disabled=${!app.canStepCycle(1)} onClick=${() => app.stepCycle(1)}><${Icon} name="last" /></button>
            </div>
            <div class="scrubber">
                <${BestBand} />
                <input type="range" min="0" max=${iterations} value=${iteration} disabled=${iterations === 0} onInput=${scrub}
                    aria-label="Planning iteration" aria-valuetext=${`iteration ${iteration} of ${iterations}`} />
            </div>
            <output class="position">
                iteration <b data-id="iteration">${iteration.toLocaleString("en")}</b> of ${iterations.toLocaleString("en")}
                ${behind && html`<button class="link" onClick=${() => app.follow()}>Back to now</button>`}
            </output>
        </div>
    </footer>`;
}

function Cycles() {
    const app = useApp();
    const { trial, cursor } = app;
    const list = useRef(/** @type {HTMLElement | null} */ (null));
    useEffect(() => {
        list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }, [cursor.cycle, cursor.trial]);
    return html`<nav class="cycles" aria-label="Cycles of trial ${cursor.trial}">
        <span class="cycles-head">Trial <b>${cursor.trial}</b>, cycle</span>
        <ol ref=${list}>${(trial?.cycles ?? []).map(({ cycle, action_name: action, reward, iterations }) => html`<li>
            <button aria-current=${cycle === cursor.cycle ? "step" : undefined} onClick=${() => app.go({ cycle }, { remember: true })}
                data-tip=${[`Cycle ${cycle}, ${iterations} planning iterations`, action && `then ${action}`, reward !== null && `reward ${reward}`].filter(Boolean).join("\n")}>
                <b>${cycle}</b>${action === null ? html`<span class="end">${trial?.over ? "end" : "now"}</span>` : html`<span>${fitted(action, 84, FONT)}</span>`}
            </button>
        </li>`)}</ol>
    </nav>`;
}

/** Which action was the best after each iteration, in words where there is room. */
function BestBand() {
    const app = useApp();
    const search = app.loaded?.search;
    const names = app.info.model.action.values;
    const runs = useMemo(() => (search ? runsOf(search.best) : []), [search, search?.iterations]);
    if (!search || !search.iterations) return html`<div class="band"></div>`;
    return html`<div class="band"><${Measured}>${(/** @type {{width: number}} */ { width }) => {
        const thumb = 16; // the slider's knob stays inside its track
        const x = (/** @type {number} */ k) => thumb / 2 + (k / search.iterations) * (width - thumb);
        return html`<svg width=${width} height="16" role="img" aria-label=${`Best action over the iterations: ${runs.slice(0, 20).map((run) => `${names[run.action]} from ${run.from}`).join(", ")}`}>
            ${runs.map(({ from, to, action }, i) => {
                const [left, right] = [x(from - 1), x(to)];
                const fits = right - left > textWidth(names[action], FONT) + 8;
                return html`<g data-tip=${`${names[action]} is best from iteration ${from} to ${to}`}>
                    <rect class=${`run run-${i % 2}`} x=${left} width=${Math.max(1, right - left - 1)} height="14" />
                    ${fits && html`<text x=${(left + right) / 2} y="7.5" text-anchor="middle" dominant-baseline="central">${names[action]}</text>`}
                </g>`;
            })}
        </svg>`;
    }}<//></div>`;
}

/**
 * Stretches of iterations with the same best action.
 * @param {Int32Array} best
 */
function runsOf(best) {
    const runs = /** @type {{from: number, to: number, action: number}[]} */ ([]);
    best.forEach((action, i) => {
        const last = runs.at(-1);
        if (last?.action === action) last.to = i + 1;
        else runs.push({ from: i + 1, to: i + 1, action });
    });
    return runs;
}


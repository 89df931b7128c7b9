// What makes another action costlier than the chosen one, term by term.

import { useApp } from "../app-context.js";
import { Waterfall } from "../charts/waterfall.js";
import { signed } from "../lib/format.js";
import { html } from "../lib/html.js";
import { pythonFor } from "../lib/python.js";
import { Figure } from "../ui/figure.js";
import { Measured } from "../ui/measured.js";

/** @param {{why: Api.Why, against: number, busy: boolean}} props */
export function Differences({ why, against, busy }) {
    const app = useApp();
    const found = why.against.find(({ action }) => action === against);
    if (!found) return null;
    const [ours, theirs] = [why.actions[why.chosen].name, why.actions[against].name];
    const parts = why.terms
        .map((term, i) => ({
            name: term,
            value: found.terms[i],
            kind: term.startsWith("risk") ? "risk" : "ambiguity",
            flag: term === found.deciding && why.terms.length > 1 && !found.tied ? "decides" : "",
            tip: `${term}\n${theirs}: ${signed(found.terms[i])} against ${ours}`,
        }))
        .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    return html`<${Figure} name="differences" title=${found.tied ? "Term by term" : "Which term decided"} busy=${busy}
        note=${`mean cost of ${theirs} minus that of ${ours}`}
        table=${() => ({
            caption: `Mean cost of ${theirs} minus that of ${ours}, term by term`,
            columns: ["term", ours, theirs, "difference"],
            rows: [
                ...why.terms.map((term, i) => [term, why.actions[why.chosen].terms[i], why.actions[against].terms[i], found.terms[i]]),
                ["mean cost", why.actions[why.chosen].mean_cost, why.actions[against].mean_cost, found.difference],
            ],
            marked: why.terms.length,
        })}
        python=${pythonFor(app, "why", { action: against, chosen: why.chosen })}>
        <${Measured} scroll=${true}>${(/** @type {{width: number, height: number}} */ size) => html`<${Waterfall} parts=${parts} sum=${found.difference}
            sumName="difference of the mean costs" label="Difference term by term" ...${size} />`}<//>
        <p class="legend">
            <span><i class="swatch swatch-risk"></i>risk</span>
            <span><i class="swatch swatch-ambiguity"></i>ambiguity</span>
            <span>positive: speaks for ${ours}; negative: for ${theirs}</span>
        </p>
    <//>`;
}

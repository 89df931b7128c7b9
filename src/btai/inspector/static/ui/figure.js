// The frame of every chart: its title, its numbers as a table, and ways to take it elsewhere.

import { useApp } from "../app-context.js";
import { html } from "../lib/html.js";
import { saveSvg, savePng, svgOf } from "../lib/save.js";
import { CopyButton } from "./copy.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { DataTable } from "./table.js";

/**
 * @param {object} props
 * @param {string} props.name names the saved file, and the figure in tests
 * @param {string} props.title
 * @param {any} [props.note] beside the title
 * @param {any} [props.controls] at the right of the title
 * @param {any} [props.choice] above the chart, and above the table
 * @param {() => import("./table.js").Table} props.table
 * @param {string} [props.python]
 * @param {((figure: HTMLElement) => SVGSVGElement | null) | null} [props.drawing] what is saved; the first chart within, if
 *     absent; `null`: there is none
 * @param {boolean} [props.busy] what is shown is of before
 * @param {any} props.children
 */
export function Figure({ name, title, note, controls, choice, table, python, drawing = svgOf, busy, children }) {
    const app = useApp();
    const tables = (app.place.tables ?? "").split(",").filter(Boolean);
    const asTable = tables.includes(name);
    const toggle = () => {
        const others = tables.filter((other) => other !== name);
        app.go({ tables: [...others, ...(asTable ? [] : [name])].join(",") || undefined });
    };
    const found = (/** @type {Event} */ event) => {
        const figure = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (event.target).closest("figure"));
        return drawing && drawing(figure);
    };
    return html`<figure class="panel figure" data-figure=${name} aria-busy=${busy ? "true" : "false"}>
        <figcaption class="panel-head">
            <h2>${title}</h2>
            ${note && html`<span class="note" title=${typeof note === "string" ? note : undefined}>${note}</span>`}
            <span class="panel-tools">
                ${controls}
                <button
                    class="icon-button"
                    aria-pressed=${asTable}
                    aria-label=${`${title}: numbers as a table`}
                    data-tip=${asTable ? "Show the chart" : "Show the numbers as a table"}
                    onClick=${toggle}
                ><${Icon} name="table" /></button>
                <${Menu} label=${`${title}: save or copy`} icon="more">
                    ${drawing && html`
                        <button disabled=${asTable} onClick=${(/** @type {Event} */ e) => saveSvg(found(e), name)}>Save as SVG</button>
                        <button disabled=${asTable} onClick=${(/** @type {Event} */ e) => savePng(found(e), name)}>Save as PNG</button>`}
                    ${python && html`<${CopyButton} text=${python}>Copy as Python<//>`}
                <//>
            </span>
        </figcaption>
        ${choice}
        <div class="figure-body">${asTable ? html`<${DataTable} table=${table()} />` : children}</div>
    </figure>`;
}

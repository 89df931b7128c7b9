// What the page has to say: a place that does not exist, a command refused, a server that ended.

import { useApp } from "../app-context.js";
import { html } from "../lib/html.js";
import { Icon } from "./icons.js";

const CONNECTION = {
    open: "",
    lost: "The connection to btai is lost; trying again. What was loaded stays readable.",
    closing: "btai has ended. What was loaded stays readable.",
};

export function Notices() {
    const app = useApp();
    const connection = CONNECTION[/** @type {keyof typeof CONNECTION} */ (app.live.state)];
    const { cursor, place, loaded } = app;
    const missing = loaded && cursor.node !== place.node
        ? `Node ${place.node} does not exist ${place.node < loaded.search.efe.length ? "yet at this iteration" : "in this cycle"}; this is its nearest ancestor.`.replace(
              "its nearest ancestor", place.node < loaded.search.efe.length ? "its nearest ancestor" : "the root")
        : "";
    return html`<div class="notices" aria-live="polite">
        ${connection && html`<p class="notice notice-warning">${connection}</p>`}
        ${app.notice && html`<p class="notice">${app.notice}
            <button class="icon-button" aria-label="Dismiss" onClick=${() => app.say("")}><${Icon} name="close" /></button></p>`}
        ${missing && !app.notice && html`<p class="notice notice-quiet">${missing}</p>`}
    </div>`;
}

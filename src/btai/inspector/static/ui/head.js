// The head of the page: what is inspected, the views, and ways to take the view elsewhere.

import { useApp } from "../app-context.js";
import { html, useEffect, useState } from "../lib/html.js";
import { nextTheme, onThemeChange, setTheme, theme } from "../lib/theme.js";
import { PAGES } from "../pages.js";
import { CopyButton } from "./copy.js";
import { HelpButton } from "./help.js";

const MODES = { live: "live", replay: "replay", export: "export" };

export function Head() {
    const app = useApp();
    const { info, live, place } = app;
    const busy = live.busy ? "planning…" : MODES[info.mode];
    return html`<header class="head">
        <a class="skip" href="#view" onClick=${(/** @type {Event} */ e) => { e.preventDefault(); document.getElementById("view")?.focus(); }}>Skip to the view</a>
        <h1><span class="brand">btai</span><span class="subject" title=${info.title}>${info.title}</span></h1>
        <span class=${`mode mode-${live.busy ? "busy" : info.mode}`}>${busy}</span>
        <nav class="views" aria-label="Views">
            ${Object.entries(PAGES).map(([view, { name }]) => html`<button aria-current=${place.view === view ? "page" : undefined}
                data-name=${name} onClick=${() => app.go({ view }, { remember: true })}>${name}</button>`)}
        </nav>
        <span class="head-tools">
            <${CopyButton} class="quiet-button" tip="An address that shows exactly this" text=${() => location.href}>Copy link<//>
            <${ThemeButton} />
            <${HelpButton} />
        </span>
    </header>`;
}

function ThemeButton() {
    const [now, setNow] = useState(theme);
    useEffect(() => onThemeChange(() => setNow(theme())), []);
    const next = nextTheme(now);
    return html`<button class="quiet-button" aria-label=${`Switch to ${next} colours`} onClick=${() => setTheme(next)}>${next === "dark" ? "Dark" : "Light"}</button>`;
}

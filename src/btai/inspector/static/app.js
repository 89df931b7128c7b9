// The page: its head, the view, the timeline.

import { AppContext, useChanges } from "./app-context.js";
import { html } from "./lib/html.js";
import { PAGES } from "./pages.js";
import { Head } from "./ui/head.js";
import { Notices } from "./ui/notices.js";
import { Waiting } from "./ui/waiting.js";
import { Timeline } from "./views/timeline.js";

/** @param {{session: import("./session.js").Session, player: import("./views/player.js").Player}} props */
export function App({ session, player }) {
    useChanges(session);
    const { loaded, place } = session;
    const { View } = PAGES[place.view];
    return html`<${AppContext.Provider} value=${session}>
        <${Head} />
        <${Notices} />
        <main id="view" tabindex="-1" data-view=${place.view} aria-busy=${session.loading && loaded !== null}>
            ${loaded ? html`<${View} key=${place.view} />` : session.empty ? html`<${Nothing} />` : html`<${Waiting} what="Opening\u2026" />`}
        </main>
        ${loaded && html`<${Timeline} player=${player} />`}
    <//>`;
}

function Nothing() {
    return html`<p class="empty">There is no trial to show yet. This page shows the first one as soon as it is there.</p>`;
}

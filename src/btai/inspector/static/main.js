// Where the page begins.

import { App } from "./app.js";
import { openData } from "./data.js";
import { html, render } from "./lib/html.js";
import { installKeys } from "./lib/keys.js";
import { restoreTheme } from "./lib/theme.js";
import { Session } from "./session.js";
import { installTooltips } from "./ui/tooltip.js";
import { Player } from "./views/player.js";

async function main() {
    restoreTheme();
    const root = /** @type {HTMLElement} */ (document.getElementById("app"));
    try {
        const data = await openData();
        const info = await data.info();
        document.title = `${info.title} \u2013 btai`;
        const session = new Session(data, info);
        const player = new Player(session);
        root.textContent = "";
        render(html`<${App} session=${session} player=${player} />`, root);
        installTooltips();
        installKeys(session, player);
        await session.start();
    } catch (failure) {
        const { message } = /** @type {Error | Api.Failure} */ (failure);
        root.textContent = `The page cannot be shown: ${message}`;
        throw failure;
    }
}

main();

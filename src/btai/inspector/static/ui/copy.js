// A button that copies a text and says that it did.

import { html, useState } from "../lib/html.js";

/**
 * @param {{text: string | (() => string), class?: string, tip?: string, children: any}} props
 */
export function CopyButton({ text, class: style, tip, children }) {
    const [done, setDone] = useState("");
    const copy = async () => {
        const said = (await copied(typeof text === "function" ? text() : text)) ? "Copied" : "Could not copy";
        setDone(said);
        setTimeout(() => setDone(""), 1500);
    };
    return html`<button class=${style} data-tip=${tip} onClick=${copy}><span aria-live="polite">${done || children}</span></button>`;
}

/** @param {string} text */
async function copied(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return copiedTheOldWay(text); // A page opened from a file may not use the clipboard directly.
    }
}

/** @param {string} text */
function copiedTheOldWay(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
}

// A button that opens a small list of buttons.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { Icon } from "./icons.js";

/** @param {{label: string, icon: "more", children: any}} props */
export function Menu({ label, icon, children }) {
    const [open, setOpen] = useState(false);
    const root = useRef(/** @type {HTMLElement | null} */ (null));
    const opener = useRef(/** @type {HTMLElement | null} */ (null));

    useEffect(() => {
        if (!open) return;
        const outside = (/** @type {Event} */ event) => {
            if (!root.current?.contains(/** @type {Node} */ (event.target))) setOpen(false);
        };
        addEventListener("pointerdown", outside);
        addEventListener("focusin", outside);
        return () => {
            removeEventListener("pointerdown", outside);
            removeEventListener("focusin", outside);
        };
    }, [open]);

    const escape = (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Escape" || !open) return;
        setOpen(false);
        opener.current?.focus();
    };
    return html`<span class="menu" ref=${root} onKeyDown=${escape}>
        <button
            class="icon-button"
            ref=${opener}
            aria-label=${label}
            aria-expanded=${open}
            data-tip=${open ? undefined : "Save or copy"}
            onClick=${() => setOpen(!open)}
        ><${Icon} name=${icon} /></button>
        ${open && html`<div class="menu-list">${children}</div>`}
    </span>`;
}

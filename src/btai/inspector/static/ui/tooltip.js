// One tooltip for the page: whatever has `data-tip` shows it under the pointer, or beside itself when it has the focus.

const MARGIN = 12;

export function installTooltips() {
    const box = document.createElement("div");
    box.className = "tooltip";
    box.setAttribute("role", "tooltip");
    box.id = "tooltip";
    box.hidden = true;
    document.body.append(box);
    /** @type {Element | null} */
    let shownFor = null;

    /** @param {Element | null} element @param {number} x @param {number} y */
    const show = (element, x, y) => {
        const text = element?.getAttribute("data-tip");
        if (shownFor !== element) shownFor?.removeAttribute("aria-describedby");
        shownFor = element;
        box.hidden = !text;
        if (!text || !element) return;
        if (box.textContent !== text) box.textContent = text;
        element.setAttribute("aria-describedby", "tooltip");
        const { width, height } = box.getBoundingClientRect();
        const right = x + MARGIN + width > innerWidth ? x - MARGIN - width : x + MARGIN;
        const below = y + MARGIN + height > innerHeight ? y - MARGIN - height : y + MARGIN;
        box.style.transform = `translate(${Math.max(4, right)}px, ${Math.max(4, below)}px)`;
    };
    const of = (/** @type {Event} */ event) =>
        event.target instanceof Element ? event.target.closest("[data-tip]") : null;

    document.addEventListener("pointermove", (event) => show(of(event), event.clientX, event.clientY));
    document.addEventListener("pointerleave", () => show(null, 0, 0));
    document.addEventListener("pointerdown", () => show(null, 0, 0));
    document.addEventListener("focusout", () => show(null, 0, 0));
    document.addEventListener("keydown", (event) => event.key === "Escape" && show(null, 0, 0));
    document.addEventListener("focusin", (event) => {
        const element = of(event);
        if (!element?.matches(":focus-visible")) return;
        const { left, bottom } = element.getBoundingClientRect();
        show(element, left, bottom - MARGIN / 2);
    });
}

// Light and dark: as the system says, or as the reader chose.

const KEY = "btai-theme";
const CHANGED = "btai-theme-changed";
const CHOICES = /** @type {const} */ (["auto", "light", "dark"]);
/** @typedef {(typeof CHOICES)[number]} Theme */

const system = matchMedia("(prefers-color-scheme: dark)");
system.addEventListener("change", () => dispatchEvent(new Event(CHANGED)));

/** @returns {Theme} */
export function theme() {
    return /** @type {Theme} */ (document.documentElement.dataset.theme ?? "auto");
}

/** @param {Theme} chosen */
export function setTheme(chosen) {
    if (chosen === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    try {
        localStorage.setItem(KEY, chosen);
    } catch {
        // A page opened from a file may have no storage: the choice lasts as long as the page.
    }
    dispatchEvent(new Event(CHANGED));
}

export function restoreTheme() {
    try {
        const kept = /** @type {Theme} */ (localStorage.getItem(KEY));
        if (CHOICES.includes(kept)) setTheme(kept);
    } catch {
        // As above.
    }
}

/** The theme after this one, as the button goes through them. @param {Theme} now @returns {Theme} */
export function nextTheme(now) {
    const seen = now === "auto" ? (system.matches ? "dark" : "light") : now;
    return seen === "dark" ? "light" : "dark";
}

/** @param {() => void} listener */
export function onThemeChange(listener) {
    addEventListener(CHANGED, listener);
    return () => removeEventListener(CHANGED, listener);
}

/**
 * A colour of the style sheets as a canvas takes it.
 * @param {string} name of the custom property, "--ink"
 */
export function colour(name) {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const resolved = getComputedStyle(probe).color;
    probe.remove();
    return resolved;
}

/** @param {string} text "rgb(1, 2, 3)" */
export function channels(text) {
    return (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

/**
 * A ramp through the colours `--ramp-0` (low) to `--ramp-3` (high), in steps.
 * @param {number} steps
 */
export function ramp(steps) {
    const stops = [0, 1, 2, 3].map((i) => channels(colour(`--ramp-${i}`)));
    return Array.from({ length: steps }, (_, i) => {
        const at = (i / (steps - 1)) * (stops.length - 1);
        const stop = Math.min(stops.length - 2, Math.floor(at));
        const mixed = stops[stop].map((low, c) => Math.round(low + (at - stop) * (stops[stop + 1][c] - low)));
        return `rgb(${mixed.join(", ")})`;
    });
}

// Children that draw themselves for the room they have.

import { html, useLayoutEffect, useRef, useState } from "../lib/html.js";

/**
 * @param {{children: (size: {width: number, height: number}) => any, scroll?: boolean}} props
 * `scroll`: what is larger than the room scrolls; else it is cut off
 */
export function Measured({ children, scroll = false }) {
    const outer = useRef(/** @type {HTMLElement | null} */ (null));
    const [size, setSize] = useState({ width: 0, height: 0 });
    useLayoutEffect(() => {
        const element = /** @type {HTMLElement} */ (outer.current);
        const measure = () => {
            const { clientWidth: width, clientHeight: height } = element;
            setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
        };
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        measure();
        return () => observer.disconnect();
    }, []);
    return html`<div class="measured" ref=${outer}>
        <div class=${scroll ? "measured-inside scrolls" : "measured-inside"}>${size.width > 0 && children(size)}</div>
    </div>`;
}

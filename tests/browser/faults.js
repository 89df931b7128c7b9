// What is wrong with how the page looks just now: text that is cut off, that lies on other text, that is hard to read.
// What a list scrolls out of sight is not cut off: one can scroll.

(kinds) => {
    const SCROLLS = new Set(["auto", "scroll"]);
    const AT_MOST = 1; // pixels that rounding may make
    const GLYPHS = 0.2; // of a line's height, above and below, in which there are hardly any letters
    const LEAST_CONTRAST = 4.5; // WCAG 2.2, AA
    const page = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };

    const styleOf = (element) => getComputedStyle(element);
    const meet = (a, b) => ({
        left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
    });
    const isEmpty = (box) => box.right - box.left <= AT_MOST || box.bottom - box.top <= AT_MOST;
    const holds = (outer, inner) =>
        inner.left >= outer.left - AT_MOST && inner.right <= outer.right + AT_MOST && inner.top >= outer.top - AT_MOST && inner.bottom <= outer.bottom + AT_MOST;

    // The room in which an element is seen, and the room beyond which it is cut off for good.
    const rooms = (element) => {
        let [seen, whole] = [page, page];
        for (let above = element; above && above !== document.body; above = above.parentElement) {
            const { overflowX, overflowY, position } = styleOf(above);
            if (position === "fixed") break;
            if (above === element && !(above instanceof SVGSVGElement)) continue;
            if (overflowX === "visible" && overflowY === "visible") continue;
            const box = above.getBoundingClientRect();
            seen = meet(seen, box);
            whole = {
                left: SCROLLS.has(overflowX) ? -Infinity : Math.max(whole.left, box.left),
                right: SCROLLS.has(overflowX) ? Infinity : Math.min(whole.right, box.right),
                top: SCROLLS.has(overflowY) ? -Infinity : Math.max(whole.top, box.top),
                bottom: SCROLLS.has(overflowY) ? Infinity : Math.min(whole.bottom, box.bottom),
            };
        }
        return { seen, whole };
    };

    // Every line of text, with its box.
    const lines = [];
    const front = document.querySelector("dialog[open]") ?? document.body; // what lies below a dialog may be covered
    const walker = document.createTreeWalker(front, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        const text = node.textContent.trim();
        if (!text || element.closest("script, style, noscript, option, .visually-hidden, .skip, [hidden]")) continue;
        if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const boxes = [...range.getClientRects()].map(({ left, top, right, bottom }) => ({ left, top, right, bottom }));
        for (const [i, box] of boxes.entries()) {
            const again = i > 0 && box.left === boxes[i - 1].left && box.top === boxes[i - 1].top; // the same line with its ellipsis
            if (again) lines.at(-1).ellipsis = true;
            else if (!isEmpty(box)) lines.push({ text, element, box, ...rooms(element) });
        }
    }
    const said = ({ text, element }) => `"${text.slice(0, 60)}" in ${element.closest("[data-figure]")?.dataset.figure ?? element.closest("[class]")?.className?.baseVal ?? element.closest("[class]")?.className}`;
    const faults = [];

    if (kinds.includes("cut")) {
        for (const line of lines) if (line.ellipsis || !holds(line.whole, line.box)) faults.push(`cut off: ${said(line)}`);
        const pen = document.createElement("canvas").getContext("2d");
        for (const select of document.querySelectorAll("select")) {
            const { font, paddingLeft, paddingRight } = styleOf(select);
            pen.font = font;
            const arrow = 18;
            const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
            const text = select.selectedOptions[0]?.textContent ?? "";
            if (pen.measureText(text).width > room + AT_MOST) faults.push(`cut off: "${text}" in a list of ${select.closest("[data-figure]")?.dataset.figure}`);
        }
        for (const element of [document.documentElement, document.querySelector("main")]) {
            if (element.scrollWidth > element.clientWidth + AT_MOST) faults.push(`${element.tagName}: wider than the window`);
            if (element.scrollHeight > element.clientHeight + AT_MOST) faults.push(`${element.tagName}: higher than the window`);
        }
    }

    if (kinds.includes("overlap")) {
        const letters = lines.flatMap((line) => {
            const box = meet(line.box, line.seen);
            const margin = GLYPHS * (line.box.bottom - line.box.top);
            const inner = { ...box, top: box.top + margin, bottom: box.bottom - margin };
            return isEmpty(inner) || line.element.closest(".tooltip") ? [] : [{ ...line, inner }];
        });
        letters.forEach((a, i) => {
            for (const b of letters.slice(i + 1)) if (!isEmpty(meet(a.inner, b.inner))) faults.push(`on each other: ${said(a)}, ${said(b)}`);
        });
        const controls = [...front.querySelectorAll("button, select, input, canvas")].flatMap((element) => {
            const box = meet(element.getBoundingClientRect(), rooms(element).seen);
            return isEmpty(box) ? [] : [{ element, box }];
        });
        controls.forEach((a, i) => {
            for (const b of controls.slice(i + 1)) {
                if (!isEmpty(meet(a.box, b.box))) faults.push(`on each other: ${a.element.outerHTML.slice(0, 80)}, ${b.element.outerHTML.slice(0, 80)}`);
            }
        });
    }

    if (kinds.includes("contrast")) {
        const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const over = (colours) => {
            pen.clearRect(0, 0, 1, 1);
            for (const colour of colours) {
                pen.fillStyle = colour;
                pen.fillRect(0, 0, 1, 1);
            }
            return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const luminance = (rgb) => {
            const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const grounds = (element) => {
            const found = [];
            const shape = element.closest("svg .node, svg .variable, svg .factor, svg .clique")?.querySelector(".card, .shape");
            if (shape && (element.matches(".short") || shape.matches(".card"))) found.push(styleOf(shape).fill);
            for (let above = element; above; above = above.parentElement) found.push(styleOf(above).backgroundColor);
            return found.reverse();
        };
        for (const line of lines) {
            const { element } = line;
            if (isEmpty(meet(line.box, line.seen)) || element.closest(":disabled, [aria-disabled=true]")) continue;
            const below = grounds(element);
            const ink = styleOf(element)[element instanceof SVGElement ? "fill" : "color"];
            const [a, b] = [luminance(over([...below, ink])), luminance(over(below))];
            const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (contrast < LEAST_CONTRAST) faults.push(`contrast ${contrast.toFixed(2)}: ${said(line)}`);
        }
    }
    return [...new Set(faults)];
}

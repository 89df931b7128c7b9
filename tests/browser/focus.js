// What has the focus, if anything has, and whether one sees that: by an outline, or in a drawing by the line around it.

() => {
    const now = document.activeElement;
    if (!now || now === document.body) return null;
    const probe = document.createElement("i");
    probe.style.color = "var(--accent)";
    document.body.append(probe);
    const accent = getComputedStyle(probe).color;
    probe.remove();
    const isMarked = (style, width, colour) => style !== "none" && parseFloat(width) >= 2 && colour === accent;
    const drawn = now instanceof SVGElement ? [...now.querySelectorAll(".hit, .card, .shape, .line")].map(getComputedStyle) : [];
    const own = getComputedStyle(now);
    const { left, top, right, bottom } = now.getBoundingClientRect();
    return {
        what: now.ariaLabel ?? now.textContent.trim().slice(0, 40),
        marked: drawn.some((one) => isMarked("solid", one.strokeWidth, one.stroke)) || isMarked(own.outlineStyle, own.outlineWidth, own.outlineColor),
        inside: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight,
    };
}

// Measures how quick the page is, in seconds: `window.speed`, there before anything of the page is.

window.speed = (() => {
    const drawn = () => new Promise((done) => requestAnimationFrame(done));
    const since = (begun) => (performance.now() - begun) / 1000;

    // From the beginning until the first view is whole: the picture, the tree around the node, the whole tree.
    const first = async () => {
        const whole = () => document.querySelector(".near-tree .child") && document.querySelector(".scene-heat") && document.querySelector("canvas")?.dataset.dots;
        while (!whole()) await drawn();
        await drawn();
        return since(0);
    };
    const firstView = first();

    // From moving the scrubber until the page shows that iteration, its numbers and no others.
    const scrub = async (iteration) => {
        const slider = document.querySelector(".scrubber input");
        const shown = document.querySelector("[data-id=iteration]");
        const begun = performance.now();
        slider.value = iteration;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        do await drawn();
        while (shown.textContent !== iteration.toLocaleString("en") || document.querySelector('main [aria-busy="true"]'));
        return since(begun);
    };

    // From turning the wheel and dragging until the whole tree is drawn where it then is; so many times.
    const move = async (times) => {
        const canvas = document.querySelector("canvas");
        const { left, top, width, height } = canvas.getBoundingClientRect();
        const at = (x, y) => ({ clientX: left + x * width, clientY: top + y * height, bubbles: true, cancelable: true, buttons: 1, pointerId: 1 });
        canvas.setPointerCapture = () => undefined; // of a pointer that is not there
        let pictures = 0;
        const { clearRect } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.clearRect = function (...room) {
            pictures++;
            clearRect.apply(this, room);
        };
        const found = [];
        for (let i = 0; i < times; i++) {
            await drawn();
            const [begun, before] = [performance.now(), pictures];
            canvas.dispatchEvent(new WheelEvent("wheel", { ...at(0.6, 0.5), deltaY: i < times / 2 ? -60 : 60 }));
            canvas.dispatchEvent(new PointerEvent("pointerdown", at(0.5, 0.5)));
            canvas.dispatchEvent(new PointerEvent("pointermove", at(0.5 + (i % 2 ? 0.1 : -0.1), 0.55)));
            canvas.dispatchEvent(new PointerEvent("pointerup", at(0.5, 0.55)));
            while (pictures === before) await drawn();
            await drawn();
            found.push(since(begun));
        }
        return found;
    };
    return { firstView, scrub, move };
})();

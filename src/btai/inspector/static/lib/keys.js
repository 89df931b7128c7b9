// The keyboard: along the iterations and cycles, up and down the tree.

/**
 * @param {import("../session.js").Session} session
 * @param {import("../views/player.js").Player} player
 */
export function installKeys(session, player) {
    addEventListener("keydown", (event) => {
        const { key, shiftKey } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
        if (key === " " && pressable(event.target)) return; // Space presses the button that has the focus.
        const act = {
            ArrowLeft: () => (shiftKey ? session.stepCycle(-1) : session.stepIteration(-1)),
            ArrowRight: () => (shiftKey ? session.stepCycle(1) : session.stepIteration(1)),
            ArrowUp: () => up(session),
            ArrowDown: () => down(session),
            Home: () => session.go({ iteration: 0 }),
            End: () => session.go({ iteration: session.loaded?.search.iterations ?? 0 }),
            " ": () => player.toggle(),
        }[key];
        if (!act || !session.loaded) return;
        event.preventDefault();
        act();
    });
}

/** @param {import("../session.js").Session} session */
function up(session) {
    const node = session.loaded?.search.parents[session.cursor.node] ?? -1;
    if (node >= 0) session.go({ node });
}

/** To the child visited most, of equals the first. @param {import("../session.js").Session} session */
function down(session) {
    const { loaded, cursor } = session;
    if (!loaded) return;
    const { visits } = loaded.search.at(cursor.iteration);
    const children = loaded.search.children(cursor.node, cursor.iteration);
    const node = children.reduce((best, child) => (visits[child] > visits[best] ? child : best), children[0]);
    if (node !== undefined) session.go({ node });
}

/** @param {EventTarget | null} target */
function typing(target) {
    return target instanceof Element && target.matches("input:not([type=range]), select, textarea");
}

/** @param {EventTarget | null} target */
function pressable(target) {
    return target instanceof Element && target.closest("button, [role=button], a, summary") !== null;
}

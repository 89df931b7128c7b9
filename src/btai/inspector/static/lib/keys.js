// The keyboard: along the iterations and cycles, up and down the tree.

/**
 * @param {import("../session.js").Session} session
 * @param {import("../views/player.js").Player} player
 */
export function installKeys(session, player) {
    addEventListener("keydown", (event) => {
        const { key, shiftKey } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || needed(key, event.target)) return;
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

const FIELDS = "input, select, textarea"; // but the scrubber, whose keys are those of the page
const BUTTONS = "button, [role=button], a, summary"; // pressed by Space
const SCROLLED = ".table-scroll"; // by up, down, Home and End

/** Whether what has the focus needs a key for itself. @param {string} key @param {EventTarget | null} target */
function needed(key, target) {
    if (!(target instanceof Element)) return false;
    if (target.closest("dialog")) return true;
    if (target.matches(FIELDS)) return !target.matches(".scrubber input");
    return key === " " ? target.closest(BUTTONS) !== null : target.matches(SCROLLED) && !key.endsWith("Left") && !key.endsWith("Right");
}

// What is shown, as Python to run in a notebook: the server's templates with the words in braces filled in.

const NAMES = ["state", "source", "target", "observation", "x", "y"]; // put in as texts: they may hold anything
const CODE = ["iteration", "node", "group", "action", "chosen", "changes", "options", "iterations"];
const WORDS = new RegExp(`\\{(${[...NAMES, ...CODE].join("|")})\\}`, "g");

/**
 * @param {import("../session.js").Session} app
 * @param {string} view
 * @param {Record<string, string | number>} [words]
 */
export function pythonFor(app, view, words = {}) {
    const { cursor, info, loaded } = app;
    const template = info.python[view];
    if (!loaded || !template) return undefined;
    const known = /** @type {Record<string, string | number>} */ ({ ...cursor, ...words });
    const filled = template.replace(WORDS, (brace, word) => {
        if (known[word] === undefined) return brace;
        return NAMES.includes(word) ? JSON.stringify(known[word]) : String(known[word]);
    });
    // The recipe holds names as well, in quotes already: nothing else may be put in between them.
    return `${loaded.cycle.python.replaceAll("{iteration}", String(known.iteration))}\n${filled}\n`;
}

/** A Python tuple of names. @param {string[]} names */
export function pythonTuple(names) {
    const quoted = names.map((name) => JSON.stringify(name)).join(", ");
    return names.length === 1 ? `(${quoted},)` : `(${quoted})`;
}

// What is shown, as Python to run in a notebook: the server's templates with the words in braces filled in.

const WORDS = [
    "iteration", "node", "state", "source", "target", "observation", "group", "action", "chosen", "x", "y", "changes",
    "options", "iterations",
];

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
    const wanted = new RegExp(`\\{(${WORDS.join("|")})\\}`, "g");
    return `${loaded.cycle.python}\n${template}\n`.replace(wanted, (brace, word) => String(known[word] ?? brace));
}

/** A Python tuple of names. @param {string[]} names */
export function pythonTuple(names) {
    const quoted = names.map((name) => JSON.stringify(name)).join(", ");
    return names.length === 1 ? `(${quoted},)` : `(${quoted})`;
}

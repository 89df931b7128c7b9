// One spelling for what is asked for: the server's addresses, the keys of an export, and the keys of the page's cache.

const ORDER = ["trial", "cycle", "iteration", "node", "part", "x", "y", "from"];

/**
 * @param {string} name
 * @param {Record<string, string | number | undefined>} [parameters]
 */
export function address(name, parameters = {}) {
    const given = ORDER.filter((key) => parameters[key] !== undefined);
    const query = given.map((key) => `${key}=${encodeURIComponent(String(parameters[key]))}`).join("&");
    return query ? `${name}?${query}` : name;
}

/**
 * What can be read, and whether an answer grows with the trace.
 * @type {Record<Exclude<keyof Api.Data, "whatIf" | "command" | "events">, boolean>}
 */
export const GROWS = {
    info: false,
    trials: true,
    trial: true,
    worst: true,
    cycle: true,
    curves: true,
    node: false,
    cells: false,
    occupancy: false,
    facts: false,
    why: false,
};

/** @typedef {keyof typeof GROWS} Read */

/**
 * The data's methods that read, all in one way.
 * @param {(name: Read, parameters: any) => Promise<any>} ask
 */
export function readers(ask) {
    const names = /** @type {Read[]} */ (Object.keys(GROWS));
    const methods = names.map((name) => [name, (/** @type {any} */ parameters) => ask(name, parameters)]);
    return /** @type {any} */ (Object.fromEntries(methods));
}

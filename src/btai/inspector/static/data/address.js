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

/** The data's methods that only read. */
export const READS = /** @type {const} */ ([
    "info",
    "trials",
    "trial",
    "worst",
    "cycle",
    "curves",
    "node",
    "cells",
    "occupancy",
    "facts",
    "why",
]);

/** @typedef {(typeof READS)[number]} Read */

// Where the nodes of a whole tree lie. It is laid out once for the finished search, so that scrubbing through the
// planning iterations lets nodes appear in their places, and nothing jumps.

import { tidy } from "./tidy.js";

/**
 * @typedef {object} Layout
 * @property {Int32Array} nodes those that have a place, parents before children `[m]`
 * @property {Float64Array} across place of each node by its depth, in 0 .. 1 `[nodes]`
 * @property {Float64Array} down place of each node among the leaves, in 0 .. 1; NaN without a place `[nodes]`
 * @property {number} leaves how many share the height
 */

/**
 * @param {import("../data/search.js").Search} search
 * @param {number} least visits a node must have had in the end
 * @returns {Layout}
 */
export function layOut(search, least) {
    const { visits, parents, depths } = search.at(search.iterations);
    const kept = (/** @type {number} */ node) => node === 0 || visits[node] >= least;
    const { at, leaves } = tidy(parents, kept);
    const nodes = Int32Array.from(parents.keys()).filter(kept);
    const deepest = Math.max(1, nodes.reduce((most, node) => Math.max(most, depths[node]), 0));
    return { nodes, across: Float64Array.from(depths, (depth) => depth / deepest), down: at.map((place) => place / leaves), leaves };
}

const MOST_AT_FIRST = 12_000;

/**
 * The fewest visits for which the whole tree stays legible and quick to draw.
 * @param {import("../data/search.js").Search} search
 */
export function leastVisits(search) {
    const { visits } = search.at(search.iterations);
    if (visits.length <= MOST_AT_FIRST) return 1;
    const descending = Int32Array.from(visits).sort().reverse();
    return descending[MOST_AT_FIRST] + 1;
}

// From numbers to pixels.

import { nice, ticks } from "../vendor/d3-array.js";
import { short } from "../lib/format.js";

/**
 * @typedef {((x: number) => number) & {ticks: {at: number, label: string}[], domain: [number, number]}} Scale
 */

/**
 * A linear scale whose ends are round numbers.
 * @param {number} low
 * @param {number} high
 * @param {[number, number]} range in pixels
 * @param {number} [wanted] ticks, about
 * @returns {Scale}
 */
export function linear(low, high, range, wanted = 4) {
    if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
    const domain = /** @type {[number, number]} */ (nice(low, high, wanted));
    const [from, to] = domain;
    const scale = (/** @type {number} */ x) => range[0] + ((x - from) / (to - from)) * (range[1] - range[0]);
    const marks = ticks(from, to, wanted).map((at) => ({ at, label: short(at) }));
    return Object.assign(scale, { ticks: marks, domain });
}

/** Every so manieth label, so that they do not touch. @param {number} n @param {number} step @param {number} room */
export function every(n, step, room) {
    const stride = Math.max(1, Math.ceil(room / Math.max(step, 1e-9)));
    const round = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((r) => r >= stride) ?? stride;
    return Array.from({ length: Math.ceil(n / round) }, (_, i) => i * round);
}

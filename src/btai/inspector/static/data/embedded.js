// The data of an exported page, which holds the server's answers itself.

import { address, readers } from "./address.js";
import { bytes, floats, integers } from "./packed.js";
import { ROOT, Search } from "./search.js";

/**
 * @typedef {{from: number, nodes: number[]}} Plan
 * @typedef {{responses: Record<string, any>, plans: Record<string, Plan[]>, pool: any[]}} Bundle
 */

const NOT_HERE = { code: "not_found", message: "This is not part of the export." };

/**
 * @param {string} base64 of gzip of JSON
 * @returns {Promise<Api.Data>}
 */
export async function embeddedData(base64) {
    const unzipped = new Blob([bytes(base64.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bundle = /** @type {Bundle} */ (await new Response(unzipped).json());
    const look = (/** @type {string} */ key) => {
        if (key in bundle.responses) return restored(bundle.responses[key], bundle.pool);
        throw NOT_HERE;
    };
    return /** @type {Api.Data} */ ({
        ...readers(async (name, at) => look(address(name, { ...at, from: undefined }))),
        facts: factsFrom(bundle, look),
        cells: async ({ trial, cycle, node, part }) => ({
            ...{ trial, cycle, node, part },
            ...cellsOf(look(address("cells", { trial, cycle, part })), node, look("info").model),
        }),
        why: async ({ trial, cycle, iteration }) => look(nearestWhy(bundle, trial, cycle, iteration)),
        whatIf: refuse,
        command: refuse,
        events: () => () => {},
    });
}

/**
 * An export explains some of the iterations only: the key of the one nearest to what is asked for.
 * @param {Bundle} bundle
 * @param {number} trial
 * @param {number} cycle
 * @param {number} iteration
 */
function nearestWhy({ responses }, trial, cycle, iteration) {
    const start = `${address("why", { trial, cycle })}&iteration=`;
    const held = Object.keys(responses).filter((key) => key.startsWith(start)).map((key) => Number(key.slice(start.length)));
    const away = (/** @type {number} */ other) => Math.abs(other - iteration);
    const nearest = held.reduce((best, other) => (away(other) < away(best) ? other : best), held[0] ?? iteration);
    return `${start}${nearest}`;
}

/**
 * One part of the expected free energy of `n` nodes, the `m` largest cells of each.
 * @typedef {object} HeldCells
 * @property {"risk" | "ambiguity"} kind
 * @property {string[]} variables
 * @property {number[]} shape
 * @property {Api.Packed} nodes `[n]`
 * @property {Api.Packed} total `[n]`
 * @property {Api.Packed} rest `[n]` what the other cells add up to
 * @property {Api.Packed} index `[n, m, variables]`
 * @property {Record<string, Api.Packed>} factors "value" `[n, m]`, and what it is made from, likewise or `[n, m, variables]`
 */

/**
 * The cells of one node, named.
 * @param {HeldCells} held
 * @param {number} node
 * @param {Api.Model} model
 */
function cellsOf({ kind, variables, shape, factors, ...arrays }, node, model) {
    const nodes = integers(arrays.nodes);
    const row = nodes.indexOf(node);
    if (row < 0) throw NOT_HERE;
    const names = variables.map((name) => [...model.states, ...model.observations].find((variable) => variable.name === name)?.values);
    const index = integers(arrays.index);
    const most = index.length / nodes.length / variables.length;
    const columns = Object.entries(factors).map(([name, column]) => ({ name, numbers: floats(column), vectors: name === "marginals" }));
    const cells = Array.from({ length: most }, (_, i) => {
        const cell = row * most + i;
        const of = (/** @type {Int32Array | Float64Array} */ array) => [...array.subarray(cell * variables.length, (cell + 1) * variables.length)];
        return {
            index: of(index),
            labels: of(index).map((value, axis) => names[axis]?.[value]),
            ...Object.fromEntries(columns.map(({ name, numbers, vectors }) => [name, vectors ? of(numbers) : numbers[cell]])),
        };
    });
    const rest = { cells: shape.reduce((product, size) => product * size, 1) - most, value: floats(arrays.rest)[row] };
    return { kind, variables, shape, total: floats(arrays.total)[row], cells, rest };
}

async function refuse() {
    throw { code: "conflict", message: "An exported page only shows. Run `btai inspect RUNFILE` to try things out." };
}

/**
 * The value with each `{"$": n}` replaced by what it stands for.
 * @param {any} value
 * @param {any[]} pool
 * @returns {any}
 */
function restored(value, pool) {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => restored(item, pool));
    if ("$" in value) return restored(pool[value.$], pool);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restored(item, pool)]));
}

/**
 * What the server tells of a node, told from the recorded search. The only place where the page evaluates a formula
 * of the paper, the UCT criterion (eq:UCT); everything else is looked up.
 * @param {Bundle} bundle
 * @param {(key: string) => any} look
 * @returns {Api.Data["facts"]}
 */
function factsFrom(bundle, look) {
    /** @type {{key: string, search: Search}} */
    let last;
    const { model, agent } = /** @type {Api.Info} */ (look("info"));

    return async ({ trial, cycle, iteration, node }) => {
        const key = address("cycle", { trial, cycle });
        if (last?.key !== key) last = { key, search: new Search(look(key).search) };
        const search = last.search.at(iteration);

        /** @param {number} of @returns {Api.Fact} */
        const fact = (of) => {
            const parent = search.parents[of];
            const action = search.action(of);
            const visits = search.visits[of];
            const mean = visits ? search.cost[of] / visits : null;
            const above = of === ROOT ? null : search.visits[parent];
            const exploration = above === null ? null : agent.exp_const * Math.sqrt(Math.log(above) / visits);
            return {
                node: of,
                action,
                action_name: action === null ? null : model.action.values[action],
                visits,
                cost: search.cost[of],
                mean_cost: mean,
                efe: of === ROOT ? null : search.efe[of],
                parent_visits: above,
                exploration,
                uct: exploration === null || mean === null ? null : exploration - mean,
            };
        };
        const plans = bundle.plans[`trial=${trial}&cycle=${cycle}`] ?? [];
        const plan = plans.findLast(({ from }) => from <= iteration);
        return {
            trial,
            cycle,
            iteration,
            node,
            exp_const: agent.exp_const,
            facts: fact(node),
            parent: node === ROOT ? null : fact(search.parents[node]),
            children: search.children(node, iteration).map(fact),
            selected: iteration ? search.expanded[iteration - 1] : null,
            best: iteration ? search.best[iteration - 1] : null,
            plan: plan?.nodes ?? [ROOT],
        };
    };
}

// The search of one cycle, at any of its planning iterations: by looking up what was recorded, never by computing costs.
//
// Nodes are numbered in order of creation. Iteration k = 1 .. N expands one node and creates the nodes
// 1 + (k - 1) A .. k A, one per action; node 0 is the present slice.

import { floats, integers } from "./packed.js";

export const ROOT = 0;

export class Search {
    /** @param {Api.PackedSearch} packed the iterations from the first on */
    constructor(packed) {
        this.nActions = packed.n_actions;
        this.root = packed.root; // what it begins with
        this.iterations = 0;
        this.expanded = new Int32Array(0); // [N] the node that each iteration expanded
        this.best = new Int32Array(0); // [N] the action that would be chosen after each iteration
        this.efe = Float64Array.of(NaN); // [1 + N A] expected free energy; the root has none
        this.parents = Int32Array.of(-1); // [1 + N A]
        this.depths = new Int32Array(1); // [1 + N A]
        this.expandedIn = new Int32Array(1); // [1 + N A] the iteration that expanded the node; 0: none
        this.pathCost = new Float64Array(0);
        this.now = 0; // the iteration that `visits` and `cost` stand at
        this.place = 0; // in pathCost
        this.visits = Int32Array.of(this.root.visits);
        this.cost = Float64Array.of(this.root.cost);
        this.append(packed);
    }

    /**
     * Take in further iterations.
     * @param {Api.PackedSearch} packed those after the last one known
     */
    append(packed) {
        const added = integers(packed.expanded);
        this.expanded = joined(this.expanded, added);
        this.best = joined(this.best, integers(packed.best));
        this.efe = joined(this.efe, floats(packed.efe));
        this.pathCost = joined(this.pathCost, floats(packed.path_cost));
        const before = this.iterations;
        this.iterations += added.length;
        for (const name of /** @type {const} */ (["parents", "depths", "expandedIn", "visits", "cost"])) {
            const longer = resized(this[name], this.nodesAt(this.iterations));
            Object.assign(this, { [name]: longer });
        }
        for (let k = before + 1; k <= this.iterations; k++) {
            const node = this.expanded[k - 1];
            const children = [this.nodesAt(k - 1), this.nodesAt(k)];
            this.expandedIn[node] = k;
            this.parents.fill(node, ...children);
            this.depths.fill(this.depths[node] + 1, ...children);
        }
    }

    /**
     * Let `visits` and `cost` stand at an iteration. They are meaningful for the nodes below `nodesAt(iteration)`.
     * @param {number} iteration
     */
    at(iteration) {
        if (iteration < this.now) {
            this.now = this.place = 0;
            this.visits[ROOT] = this.root.visits;
            this.cost[ROOT] = this.root.cost;
        }
        while (this.now < iteration) {
            const first = this.nodesAt(this.now);
            let node = this.expanded[this.now++];
            for (let child = first; child < this.nodesAt(this.now); child++) {
                this.visits[child] = 1;
                this.cost[child] = this.efe[child];
            }
            for (; node !== -1; node = this.parents[node]) {
                this.cost[node] = this.pathCost[this.place++];
                this.visits[node]++;
            }
        }
        return this;
    }

    /** How many nodes there are after an iteration. @param {number} iteration */
    nodesAt(iteration) {
        return 1 + iteration * this.nActions;
    }

    /** @param {number} node */
    action(node) {
        return node === ROOT ? null : (node - 1) % this.nActions;
    }

    /** The children of a node after an iteration; none where it is a leaf. @param {number} node @param {number} iteration */
    children(node, iteration) {
        const expandedIn = this.expandedIn[node];
        if (!expandedIn || expandedIn > iteration) return [];
        return Array.from({ length: this.nActions }, (_, a) => this.nodesAt(expandedIn - 1) + a);
    }

    /** The node, or its nearest ancestor that exists after an iteration. @param {number} node @param {number} iteration */
    nearest(node, iteration) {
        if (node >= this.efe.length) return ROOT;
        while (node >= this.nodesAt(iteration)) node = this.parents[node];
        return node;
    }

    /** The actions from the root to a node. @param {number} node */
    path(node) {
        const actions = [];
        for (; node > ROOT; node = this.parents[node]) actions.push((node - 1) % this.nActions);
        return actions.reverse();
    }
}

/**
 * @template {Int32Array | Float64Array} T
 * @param {T} array
 * @param {number} length
 * @returns {T}
 */
function resized(array, length) {
    if (length <= array.length) return array;
    const longer = /** @type {T} */ (new /** @type {any} */ (array.constructor)(length));
    longer.set(array);
    return longer;
}

/**
 * @template {Int32Array | Float64Array} T
 * @param {T} head
 * @param {T} tail
 * @returns {T}
 */
function joined(head, tail) {
    const both = resized(head, head.length + tail.length);
    both.set(tail, head.length);
    return both;
}

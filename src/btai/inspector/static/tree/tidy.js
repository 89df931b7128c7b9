// Where the nodes of a tree lie across it: leaves one beside the other, parents in the middle of their children.

/**
 * In linear time and without recursion, since trees of search have many thousands of nodes.
 * @param {ArrayLike<number>} parents of each node; a parent comes before its children, and -1 is none `[nodes]`
 * @param {(node: number) => boolean} [kept] whether a node has a place; its parent must have one, too
 * @returns {{at: Float64Array, leaves: number}} `at`: 0.5 for the first leaf, 1.5 for the second, ...
 */
export function tidy(parents, kept = () => true) {
    const nodes = Array.from({ length: parents.length }, (_, node) => node).filter(kept);
    const backwards = [...nodes].reverse();
    const leaves = new Float64Array(parents.length); // below each node; 0 as long as no child is counted
    let all = 0;
    for (const node of backwards) {
        leaves[node] ||= 1;
        if (parents[node] < 0) all += leaves[node];
        else leaves[parents[node]] += leaves[node];
    }
    const free = new Float64Array(parents.length); // where the next child of a node begins
    let freeRoot = 0;
    for (const node of nodes) {
        const parent = parents[node];
        free[node] = parent < 0 ? freeRoot : free[parent];
        if (parent < 0) freeRoot += leaves[node];
        else free[parent] += leaves[node];
    }
    const at = new Float64Array(parents.length).fill(NaN);
    const first = new Float64Array(parents.length).fill(NaN);
    for (const node of backwards) {
        // By now `free` stands at the end of a node's own stretch where it has children, else at its beginning.
        at[node] = Number.isNaN(first[node]) ? free[node] + 0.5 : (first[node] + at[node]) / 2;
        const parent = parents[node];
        if (parent < 0) continue;
        if (Number.isNaN(at[parent])) at[parent] = at[node]; // its last child, seen first
        first[parent] = at[node];
    }
    return { at, leaves: all };
}

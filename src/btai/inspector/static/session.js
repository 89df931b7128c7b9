// What the page knows and where it is. Views read it and ask it to go elsewhere; they keep nothing of the kind themselves.

import { Cache } from "./data/cache.js";
import { ROOT, Search } from "./data/search.js";
import { readPlace, writePlace } from "./place.js";

const CYCLES_KEPT = 8;
const CURSOR = /** @type {const} */ (["trial", "cycle", "iteration", "node"]);

/**
 * @typedef {import("./place.js").Place} Place
 * @typedef {{cycle: Api.Cycle, search: Search, generation: number}} Loaded
 */

export class Session {
    /**
     * @param {Api.Data} data
     * @param {Api.Info} info
     */
    constructor(data, info) {
        this.data = data;
        this.info = info;
        this.cache = new Cache(data);
        this.place = readPlace(location.hash); // what was asked for
        this.opening = info.cursor ?? { trial: 0, cycle: 0, iteration: 0, node: ROOT };
        this.cursor = this.opening; // what is shown
        this.empty = info.cursor === null; // there is no trial yet
        this.trials = info.trials; // how many there are, as far as the page was told
        /** @type {Api.TrialCycles | null} */
        this.trial = null;
        /** @type {Loaded | null} */
        this.loaded = null;
        this.live = { end: info.can.command ? info.cursor : null, over: false, busy: false, command: "", state: "open" };
        this.following = info.can.command && this.place.cycle === null;
        this.notice = "";
        this.listeners = new Set();
        /** @type {Map<string, Loaded>} the least recently used first */
        this.kept = new Map();
        this.loading = false;
    }

    /** @param {() => void} listener */
    subscribe(listener) {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    changed() {
        for (const listener of this.listeners) listener();
    }

    /** Begin: load what the address asks for, listen to the server. */
    start() {
        addEventListener("hashchange", () => {
            if (location.hash === writePlace(this.written())) return;
            this.place = readPlace(location.hash);
            this.following = this.atEnd(this.place);
            this.settle();
        });
        this.data.events((event) => this.heard(event));
        return this.settle();
    }

    /**
     * Go elsewhere. Whoever names a cycle without an iteration comes to its last iteration and its root.
     * @param {Partial<Place>} there
     * @param {{remember?: boolean}} [options] `remember`: the browser's Back leads back here
     */
    go(there, { remember = false } = {}) {
        const elsewhere = "trial" in there || "cycle" in there;
        const beginning = elsewhere ? { iteration: null, node: ROOT } : {};
        const moves = CURSOR.some((key) => key in there);
        // A move starts from what is shown; a mere change of the view stops nothing that is on its way.
        const before = moves || !this.isMissing() ? { ...this.place, ...this.cursor, node: this.place.node } : this.place;
        this.place = { ...before, ...("trial" in there ? { cycle: 0 } : {}), ...beginning, ...there };
        this.notice = "";
        if (moves && Object.keys(there).join() !== "node") this.following = this.atEnd(this.place);
        if (remember) history.pushState(null, "", writePlace(this.written()));
        this.settle();
    }

    /** Show what `place` asks for, as soon as it is there; until then the page shows where it was. */
    async settle() {
        this.resolve();
        if (this.loading || this.empty) return; // While it loads: it looks again when it is done.
        this.loading = this.isMissing();
        if (this.loading) this.changed();
        try {
            while (this.isMissing()) await this.load();
        } catch (failure) {
            this.notice = /** @type {Api.Failure} */ (failure).message ?? String(failure);
            this.place = { ...this.place, ...this.cursor };
        } finally {
            this.loading = false;
            this.changed();
        }
    }

    isMissing() {
        const { trial, cycle } = this.wanted();
        const generation = this.cache.generation;
        return this.trial?.trial !== trial || this.loaded?.cycle.cycle !== cycle || this.loaded.cycle.trial !== trial
            || this.loaded.generation !== generation;
    }

    wanted() {
        return {
            trial: this.place.trial ?? this.opening.trial,
            cycle: this.place.cycle ?? (this.place.trial === null ? this.opening.cycle : 0),
        };
    }

    async load() {
        const { generation } = this.cache;
        const wanted = this.wanted();
        const trial = this.cache.ask("trial", { trial: wanted.trial });
        // Both at once where the cycle surely exists; an address may name one that does not.
        const early = this.place.cycle === null ? this.loadCycle(wanted.trial, wanted.cycle, generation).catch(() => null) : null;
        await trial.promise;
        if (trial.error) throw trial.error;
        const last = trial.value.cycles.length - 1;
        if (wanted.cycle > last) {
            this.notice = `Trial ${wanted.trial} has no cycle ${wanted.cycle}; this is its last, ${last}.`;
            this.place = { ...this.place, cycle: last, iteration: null };
        }
        const cycle = Math.min(wanted.cycle, last);
        const loaded = (cycle === wanted.cycle && (await early)) || (await this.loadCycle(wanted.trial, cycle, generation));
        this.trial = trial.value;
        this.loaded = loaded;
        this.resolve();
    }

    /**
     * @param {number} trial
     * @param {number} cycle
     * @param {number} generation
     * @returns {Promise<Loaded>}
     */
    async loadCycle(trial, cycle, generation) {
        const key = `${trial}/${cycle}`;
        const known = this.kept.get(key);
        if (known?.generation === generation) return known;
        const from = known?.search.iterations;
        const answer = await this.data.cycle({ trial, cycle, from });
        const search = known?.search ?? new Search(answer.search);
        if (known) search.append(answer.search);
        const loaded = { cycle: answer, search, generation };
        this.kept.delete(key);
        this.kept.set(key, loaded);
        const oldest = this.kept.keys().next().value;
        if (this.kept.size > CYCLES_KEPT && oldest !== undefined) this.kept.delete(oldest);
        return loaded;
    }

    /** Let the cursor be what was asked for, as far as it exists. */
    resolve() {
        const { trial, cycle } = this.wanted();
        if (this.loaded?.cycle.trial !== trial || this.loaded.cycle.cycle !== cycle) return;
        const { search } = this.loaded;
        const iteration = Math.min(this.place.iteration ?? search.iterations, search.iterations);
        if (this.place.iteration !== null && this.place.iteration > iteration) {
            this.notice = `This cycle has no planning iteration ${this.place.iteration}; this is its last, ${iteration}.`;
            this.place = { ...this.place, iteration };
        }
        this.cursor = { trial, cycle, iteration, node: search.nearest(this.place.node, iteration) };
        history.replaceState(null, "", writePlace(this.written()));
        this.changed();
    }

    /**
     * Note in the address how a view is set, where nothing needs to be drawn anew.
     * @param {Partial<Place>} setting
     */
    note(setting) {
        this.place = { ...this.place, ...setting };
        history.replaceState(null, "", writePlace(this.written()));
    }

    /** @param {number} by */
    stepIteration(by) {
        const iteration = this.cursor.iteration + by;
        if (iteration >= 0 && iteration <= (this.loaded?.search.iterations ?? 0)) this.go({ iteration });
    }

    /** @param {number} by */
    canStepCycle(by) {
        const cycle = this.cursor.cycle + by;
        return cycle >= 0 && cycle < (this.trial?.cycles.length ?? 0);
    }

    /** @param {number} by */
    stepCycle(by) {
        if (this.canStepCycle(by)) this.go({ cycle: this.cursor.cycle + by });
    }

    /** The place with everything spelled out, as the address has it. */
    written() {
        return { ...this.place, ...this.cursor, node: this.place.node };
    }

    /** Whether a place is the end of the live trace. @param {Place} place */
    atEnd({ trial, cycle, iteration }) {
        const { end } = this.live;
        if (!end || trial !== end.trial || cycle !== end.cycle) return false;
        return iteration === null || iteration >= end.iteration;
    }

    /** Go to the end of the live trace and stay there as it grows. */
    follow() {
        const { end } = this.live;
        if (end) this.go({ trial: end.trial, cycle: end.cycle });
        this.following = true;
        this.changed();
    }

    /**
     * Have the environment and the agent do something, and look at what came of it.
     * @param {Api.Command} command
     */
    async command(command) {
        this.notice = "";
        this.follow();
        try {
            const { cursor, over } = await this.data.command(command);
            this.grown(cursor, over);
        } catch (failure) {
            this.say(/** @type {Api.Failure} */ (failure).message);
        }
    }

    /** @param {string} notice */
    say(notice) {
        this.notice = notice;
        this.changed();
    }

    /** @param {Api.LiveEvent} event */
    heard(event) {
        if (event.type === "hello") {
            this.live.busy = event.busy;
            this.live.state = "open";
            if (event.cursor) this.grown(event.cursor, event.over);
            else this.counted(event.trials);
        } else if (event.type === "trace") {
            this.grown(event.cursor, event.over);
        } else if (event.type === "busy") {
            this.live.busy = event.busy;
            this.live.command = event.command;
        } else if (event.type === "trials") {
            this.counted(event.trials);
        } else {
            this.live.state = event.type === "closing" || this.live.state === "closing" ? "closing" : "lost";
        }
        this.changed();
    }

    /** So many trials are in the run file by now. @param {number} trials */
    async counted(trials) {
        if (trials === this.trials) return;
        this.trials = trials;
        this.cache.generation++;
        if (this.empty) {
            const { cursor } = await this.data.info(); // the first that has ended need not be the first of all
            if (!cursor) return;
            this.opening = this.cursor = cursor;
            this.empty = false;
        }
        this.settle();
    }

    /**
     * The live trace has a new end.
     * @param {Api.Cursor} end
     * @param {boolean} over
     */
    grown(end, over) {
        const before = this.live.end;
        this.live = { ...this.live, end, over };
        if (before && CURSOR.every((key) => before[key] === end[key])) return;
        if (before) this.cache.generation++;
        if (this.following) {
            const same = this.cursor.trial === end.trial && this.cursor.cycle === end.cycle;
            const node = same ? this.place.node : ROOT;
            this.place = { ...this.place, trial: end.trial, cycle: end.cycle, iteration: null, node };
        }
        this.settle();
    }
}

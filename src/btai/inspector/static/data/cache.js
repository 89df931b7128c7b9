// Remembers answers, so that going back to where one was is immediate. An answer never changes, as the trace that it is
// told from only grows; what grows with the trace is known by its generation as well.

import { GROWS, address } from "./address.js";

const KEPT = 600;

/** @typedef {{value?: any, error?: Api.Failure, promise: Promise<void>}} Answer */

export class Cache {
    /** @param {Api.Data} data */
    constructor(data) {
        this.data = data;
        this.generation = 0; // how often the trace has grown; whoever learns that it did counts it up
        /** @type {Map<string, Answer>} by key, the least recently used first */
        this.answers = new Map();
    }

    /**
     * @param {import("./address.js").Read} name
     * @param {Record<string, any>} at
     */
    key(name, at) {
        return GROWS[name] ? `${this.generation} ${address(name, at)}` : address(name, at);
    }

    /**
     * What is known already.
     * @param {string} key
     */
    known(key) {
        return this.answers.get(key);
    }

    /**
     * What is known, or will be when its promise is kept.
     * @param {import("./address.js").Read} name
     * @param {Record<string, any>} at
     */
    ask(name, at) {
        const key = this.key(name, at);
        const answer = this.answers.get(key) ?? this.fetched(key, name, at);
        this.answers.delete(key);
        this.answers.set(key, answer);
        const oldest = this.answers.keys().next().value;
        if (this.answers.size > KEPT && oldest !== undefined) this.answers.delete(oldest);
        return answer;
    }

    /**
     * @param {string} key
     * @param {import("./address.js").Read} name
     * @param {Record<string, any>} at
     */
    fetched(key, name, at) {
        /** @type {Answer} */
        const answer = { promise: Promise.resolve() };
        const method = /** @type {(at: any) => Promise<any>} */ (this.data[name]);
        answer.promise = method(at).then(
            (value) => void (answer.value = value),
            (error) => {
                answer.error = error;
                this.answers.delete(key); // The next one to ask may have more luck.
            },
        );
        return answer;
    }
}

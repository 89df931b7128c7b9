// Plays a recorded trial: planning iteration by planning iteration, cycle by cycle.

const FRAME = 90; // milliseconds
const FRAMES_PER_CYCLE = 160; // a longer search is played in larger steps
const REST = 8; // frames at the end of a cycle

export class Player {
    /** @param {import("../session.js").Session} session */
    constructor(session) {
        this.session = session;
        this.timer = 0;
        this.rest = 0;
        /** @type {Set<(playing: boolean) => void>} */
        this.listeners = new Set();
    }

    get playing() {
        return this.timer !== 0;
    }

    /** @param {(playing: boolean) => void} listener */
    onChange(listener) {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
    }

    toggle() {
        if (this.playing) this.stop();
        else this.start();
    }

    start() {
        const { session } = this;
        const { iterations } = session.loaded?.search ?? { iterations: 0 };
        if (session.cursor.iteration >= iterations && !session.canStepCycle(1)) session.go({ cycle: 0, iteration: 0 });
        this.timer = window.setInterval(() => this.frame(), FRAME);
        this.tell();
    }

    stop() {
        clearInterval(this.timer);
        this.timer = 0;
        this.tell();
    }

    tell() {
        for (const listener of this.listeners) listener(this.playing);
    }

    frame() {
        const { session } = this;
        const { cursor, loaded, loading } = session;
        if (loading || !loaded) return;
        const { iterations } = loaded.search;
        if (cursor.iteration < iterations) {
            const step = Math.max(1, Math.round(iterations / FRAMES_PER_CYCLE));
            session.go({ iteration: Math.min(iterations, cursor.iteration + step) });
            this.rest = REST;
        } else if (this.rest-- > 0) {
            return;
        } else if (session.canStepCycle(1)) {
            session.go({ cycle: cursor.cycle + 1, iteration: 0 });
        } else {
            this.stop();
        }
    }
}

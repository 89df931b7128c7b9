// Asking for data from within a component.

import { useApp } from "../app-context.js";
import { useEffect, useRef, useState } from "./html.js";

/**
 * @template T
 * @typedef {{value: T | undefined, error: Api.Failure | undefined, stale: boolean}} Resource
 */

/**
 * The answer to a question; while it is under way, `stale`, the answer to the one before. Of a component's questions one
 * is under way at a time, and of those that come up meanwhile only the last is asked: so scrubbing keeps up.
 * @template {import("../data/address.js").Read} N
 * @param {N} name
 * @param {Parameters<Api.Data[N]>[0] | null} at `null`: nothing is asked
 * @param {number} [pause] milliseconds to wait whether a newer question comes
 * @returns {Resource<Awaited<ReturnType<Api.Data[N]>>>}
 */
export function useData(name, at, pause = 0) {
    const { cache } = useApp();
    const [, redraw] = useState(0);
    const { current: asking } = useRef({
        wanted: /** @type {{key: string, at: any} | null} */ (null),
        shown: /** @type {{key: string, value?: any, error?: any}} */ ({ key: "" }),
        busy: false,
    });
    asking.wanted = at && { key: cache.key(name, at), at };
    const { wanted } = asking;
    const known = wanted && cache.known(wanted.key);
    if (wanted && known && "value" in known) asking.shown = { key: wanted.key, value: known.value };

    useEffect(() => {
        const ask = async () => {
            asking.busy = true;
            while (asking.wanted && asking.wanted.key !== asking.shown.key) {
                const { key, at } = asking.wanted;
                if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
                if (asking.wanted?.key !== key) continue;
                const answer = cache.ask(name, at);
                await answer.promise;
                if (asking.wanted?.key !== key) continue;
                asking.shown = { key, value: answer.value, error: answer.error };
                redraw((n) => n + 1);
            }
            asking.busy = false;
        };
        if (!asking.busy) ask();
    }, [wanted?.key]);

    if (!wanted) return { value: undefined, error: undefined, stale: false };
    const stale = asking.shown.key !== wanted.key;
    return { value: asking.shown.value, error: stale ? undefined : asking.shown.error, stale };
}

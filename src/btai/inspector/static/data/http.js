// The data of a running server: JSON over HTTP, and server-sent events.

import { address, readers } from "./address.js";

/** @returns {Api.Data} */
export function httpData() {
    return /** @type {Api.Data} */ ({
        ...readers((name, parameters) => ask(address(name, parameters))),
        whatIf: (body) => ask("what-if", body),
        command: (body) => ask("command", body),
        events: listen,
    });
}

/**
 * @param {string} path
 * @param {unknown} [body] sent as JSON; without it the request is a GET
 */
async function ask(path, body) {
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`api/${path}`, body === undefined ? {} : post).catch(() => {
        throw failure("lost", "The server does not answer. Is the btai process still running?");
    });
    const answer = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    throw answer?.error ?? failure("internal", `The server answered ${response.status} without saying why.`);
}

/**
 * @param {string} code
 * @param {string} message
 * @returns {Api.Failure}
 */
function failure(code, message) {
    return { code, message };
}

const EVENTS = ["hello", "trace", "busy", "trials", "closing"];

/** @param {(event: Api.LiveEvent) => void} listener */
function listen(listener) {
    const source = new EventSource("api/events");
    for (const type of EVENTS) {
        source.addEventListener(type, (event) => {
            if (type === "closing") source.close(); // Otherwise the browser would go on trying to reconnect.
            listener({ type, ...JSON.parse(/** @type {MessageEvent} */ (event).data) });
        });
    }
    source.addEventListener("error", () => listener({ type: "lost" }));
    return () => source.close();
}

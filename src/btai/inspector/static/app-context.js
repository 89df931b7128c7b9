// How the components reach the session.

import { createContext, useContext, useLayoutEffect, useState } from "./lib/html.js";

/** @typedef {import("./session.js").Session} Session */

export const AppContext = createContext(/** @type {Session} */ (/** @type {unknown} */ (null)));

/** The session, for reading and for going elsewhere. */
export function useApp() {
    return useContext(AppContext);
}

/** Draw this component anew whenever the session changes. @param {Session} session */
export function useChanges(session) {
    const [, redraw] = useState(0);
    // Not `useEffect`, which waits for the screen: an exported page may have its data before that.
    useLayoutEffect(() => {
        const unsubscribe = session.subscribe(() => redraw((n) => n + 1));
        return () => void unsubscribe();
    }, [session]);
}

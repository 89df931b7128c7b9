// The one place that names the rendering library: `html` templates and its hooks.

import htm from "../vendor/htm.js";
import { h } from "../vendor/preact.js";

export { createContext, h, render } from "../vendor/preact.js";
export {
    useCallback,
    useContext,
    useEffect,
    useId,
    useLayoutEffect,
    useMemo,
    useRef,
    useState,
} from "../vendor/preact-hooks.js";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

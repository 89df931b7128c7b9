// Where the page's data come from: the server that serves it, or the page itself where it is an exported file.

import { embeddedData } from "./data/embedded.js";
import { httpData } from "./data/http.js";

/** @returns {Promise<Api.Data>} */
export async function openData() {
    const embedded = document.getElementById("btai-data");
    return embedded ? embeddedData(embedded.textContent ?? "") : httpData();
}

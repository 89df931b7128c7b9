// Arrays of numbers as the server packs them: little-endian, in base64.

/** @param {Api.Packed} packed */
export function floats(packed) {
    return new Float64Array(bytes(packed.data).buffer);
}

/** @param {Api.Packed} packed */
export function integers(packed) {
    return new Int32Array(bytes(packed.data).buffer);
}

/** @param {string} base64 */
export function bytes(base64) {
    const characters = atob(base64);
    const decoded = new Uint8Array(characters.length);
    for (let i = 0; i < decoded.length; i++) decoded[i] = characters.charCodeAt(i); // `from` takes ten times as long
    return decoded;
}

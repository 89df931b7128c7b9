// Renews src/btai/inspector/static/vendor/: third-party modules as published on npm, their licences and checksums.
//
//     npm --prefix tools ci && npm --prefix tools run vendor
//
// package-lock.json holds the hashes of the packages, so what is copied is what was published. Two things are changed
// in a module, and nothing else: bare imports become relative ones, since the page has no build step and no import
// map; and the pointer to a source map, which is not copied, is cut.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MODULES = [
    { package: "preact", file: "dist/preact.mjs", as: "preact.js" },
    { package: "preact", file: "hooks/dist/hooks.mjs", as: "preact-hooks.js", types: "preact/hooks" },
    { package: "htm", file: "dist/htm.mjs", as: "htm.js", declared: "{ default }" },
    { package: "d3-array", file: "dist/d3-array.min.mjs", as: "d3-array.js" },
];
const BARE = { preact: "./preact.js" };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PACKAGES = here("node_modules/");
const TARGET = here("../src/btai/inspector/static/vendor/");

function adapted(source, name) {
    const relative = source.replace(/(\bfrom\s*)"([^".][^"]*)"/g, (_, from, bare) => {
        if (!(bare in BARE)) throw new Error(`${name} imports "${bare}": name the vendored module for it in BARE.`);
        return `${from}"${BARE[bare]}"`;
    });
    return relative.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
}

function licence(name) {
    const { version, license } = JSON.parse(readFileSync(`${PACKAGES}${name}/package.json`, "utf8"));
    return { version, license, text: readFileSync(`${PACKAGES}${name}/LICENSE`, "utf8") };
}

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const checksums = {};

function write(name, text) {
    writeFileSync(TARGET + name, text);
    checksums[name] = createHash("sha256").update(text).digest("hex");
}

for (const { package: name, file, as, types = name, declared = "*" } of MODULES) {
    write(as, adapted(readFileSync(`${PACKAGES}${name}/${file}`, "utf8"), as));
    // For the type checker alone, which takes the types from the package itself.
    write(as.replace(".js", ".d.ts"), `export ${declared} from "${types}";\n`);
}
for (const name of new Set(MODULES.map((module) => module.package))) {
    const { version, license, text } = licence(name);
    write(`LICENSE-${name}.txt`, `${name} ${version} (${license})\n\n${text}`);
}
writeFileSync(`${TARGET}checksums.json`, JSON.stringify(checksums, null, 2) + "\n");
console.log(Object.entries(checksums).map(([name, digest]) => `${digest}  ${name}`).join("\n"));

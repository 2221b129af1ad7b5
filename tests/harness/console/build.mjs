// Builds the console's vendored modules: one file a package, with its types, and their licences.
//
// `make vendored` runs it; vendored.toml gets their versions and hashes.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const target = process.argv[2];
mkdirSync(target, { recursive: true });
const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
/** @type {Map<string, string>} */
const licences = new Map();
const written = ["# Written by `make vendored`; a test compares the hashes.\n"];

for (const entry of readdirSync("entries").sort()) {
  const name = basename(entry, ".js");
  const outfile = join(target, entry);
  const { metafile } = await build({
    entryPoints: [join("entries", entry)],
    outfile,
    bundle: true,
    format: "esm",
    metafile: true,
    minify: true,
    target: "es2022",
    define: { "process.env.NODE_ENV": '"production"' },
    legalComments: "none",
  });
  copyFileSync(join("entries", entry), join(target, `${name}.d.ts`)); // it only names exports
  const hash = createHash("sha384").update(readFileSync(outfile)).digest("base64");
  const packages = packagesOf(Object.keys(metafile.inputs)).map(describe);
  const found = [...new Set(packages.map((each) => each.licence))].sort();
  written.push(
    `["${entry}"]`,
    `licences = ${JSON.stringify(found)}`,
    `sha384 = "${hash}"\n`,
    `["${entry}".packages]`,
    ...packages.map((each) => `"${each.name}" = "${each.version}"`),
    "",
  );
}
writeFileSync(join(target, "vendored.toml"), written.join("\n"));
const names = [...licences.keys()].sort();
writeFileSync(join(target, "LICENCES.txt"), names.map((each) => licences.get(each)).join("\n\n"));

/**
 * Return the names of the packages that files belong to.
 * @param {string[]} files
 */
function packagesOf(files) {
  const found = files.map((each) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(each)?.[1] ?? "");
  return [...new Set(found)].filter((each) => each !== "").sort();
}

/**
 * Return a package with its version and licence; its licence text is kept.
 * @param {string} name
 */
function describe(name) {
  const folder = join("node_modules", name);
  const { license, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const isPinned = name in devDependencies;
  if (isPinned && devDependencies[name] !== version) throw new Error(`${name}: ${version} is installed`);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence`);
  licences.set(name, `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`);
  return { name, version, licence: license };
}

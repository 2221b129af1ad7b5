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
const licences = [];
const written = ["# Written by `make vendored`; a test compares the hashes.\n"];

for (const entry of readdirSync("entries").sort()) {
  const name = basename(entry, ".js");
  const outfile = join(target, entry);
  await build({
    entryPoints: [join("entries", entry)],
    outfile,
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    define: { "process.env.NODE_ENV": '"production"' },
    legalComments: "none",
  });
  copyFileSync(join("entries", entry), join(target, `${name}.d.ts`)); // it only names exports
  const folder = join("node_modules", name);
  const { license, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (devDependencies[name] !== version) throw new Error(`${name}: ${version} is installed`);
  const text = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (text === undefined) throw new Error(`${name} has no licence`);
  licences.push(`${name} ${version}\n\n${readFileSync(join(folder, text), "utf8").trim()}\n`);
  const hash = createHash("sha384").update(readFileSync(outfile)).digest("base64");
  written.push(
    `["${entry}"]`,
    `package = "${name}"`,
    `version = "${version}"`,
    `licence = "${license}"`,
    `sha384 = "${hash}"\n`,
  );
}
writeFileSync(join(target, "vendored.toml"), written.join("\n"));
writeFileSync(join(target, "LICENCES.txt"), licences.join("\n\n"));

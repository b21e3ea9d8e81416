// Puts the built program and the libraries that every command needs into a few files: hundreds of small ones cost
// a third of a second of processor time at each start. `dist/src/main.js` takes them when nothing was built since.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, "dist", "src");
const folder = join(built, "bundle");

rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  // Threads begin at files of their own, which stand beside whoever starts them.
  entryPoints: {
    cli: join(built, "cli", "index.js"),
    worker: join(built, "load", "workers", "worker.js"),
    "stamped-server": join(built, "load", "calibration", "stamped-server.js"),
  },
  outdir: folder,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minifyWhitespace: true,
  minifySyntax: true,
  // Errors are told by the names of their classes.
  keepNames: true,
  metafile: true,
  logLevel: "warning",
  // Loaded by few commands, or by paths that a bundle would break.
  external: ["fastify", "undici", "autocannon", "jiti"],
  // Libraries of the older kind ask for Node's own modules by name.
  banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
});
writeFileSync(join(folder, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));

/** The licences of the libraries inside, which have to go with them. */
function licensesOf(inputs) {
  const packages = new Set(
    inputs
      .map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
      .filter((path) => path !== undefined),
  );
  return [...packages]
    .sort()
    .map((path) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
      const file = readdirSync(join(root, path)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? "" : readFileSync(join(root, path, file), "utf8").trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

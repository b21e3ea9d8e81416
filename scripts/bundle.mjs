// Builds the program in `dist/src`: the program and the libraries that every command needs in one file (reading and compiling
// hundreds of files costs 0.4 s of CPU time at each start), the threads, and the library. Needs esbuild and the package's own
// dependencies, no other development tool.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, "dist", "src");
const folder = join(built, "bundle");

/** CommonJS libraries require Node's own modules by name. */
const withRequire = {
  js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);',
};

const options = {
  absWorkingDir: root,
  outdir: built,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  minifyWhitespace: true,
  minifySyntax: true,
  minifyIdentifiers: true,
  metafile: true,
  write: false,
  logLevel: "warning",
  // Errors are identified by class name, and esbuild renames one of two classes with the same name.
  keepNames: true,
  // Loaded by few commands, or through paths that a bundle would break.
  external: [
    "ajv",
    "fastify",
    "undici",
    "autocannon",
    "jiti",
    "junit-report-builder",
    "libsql",
    "@inquirer/prompts",
    "prom-client",
    "@opentelemetry/*",
  ],
};

/** The commit that is built, and whether what is built differs from it; `undefined` outside a repository. */
function buildOf() {
  const git = (...words) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    // Sources that were unpacked within another repository are not that repository's commit.
    if (realpathSync(git("rev-parse", "--show-toplevel").trim()) !== realpathSync(root)) return undefined;
    const built = ["src", "suites", "reports", "scripts", "package.json", "package-lock.json"];
    const changed = git("status", "--porcelain", "--", ...built);
    return { commit: git("rev-parse", "HEAD").trim(), dirty: changed.trim() !== "" };
  } catch {
    // An archive of the sources, or a machine without git: records then say that the build is not known.
    return undefined;
  }
}

// The live page loads its script from the program, so it is a string there (`page.ts`).
const pageScript = await build({
  ...options,
  entryPoints: ["src/telemetry/live/page-script/main.ts"],
  platform: "browser",
  format: "iife",
  target: "es2023",
});
// CommonJS, because its `require` calls load an external library when it is first used.
const program = await build({
  ...options,
  entryPoints: { "bundle/cli": "src/cli/index.ts" },
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  define: {
    "import.meta.url": "bundleUrl",
    LIVE_PAGE_SCRIPT: JSON.stringify(pageScript.outputFiles[0].text),
    BUILD: JSON.stringify(buildOf()) ?? "undefined",
  },
  banner: { js: 'const bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
});
const start = await build({ ...options, entryPoints: { main: "src/main.ts" } });
// Threads start from separate files, which must be next to the file that starts them.
const threads = await build({
  ...options,
  entryPoints: {
    "bundle/worker": "src/load/workers/worker.ts",
    "bundle/scrape-worker": "src/telemetry/watch/scrape-worker.ts",
    "bundle/stamped-server": "src/load/calibration/stamped-server.ts",
  },
  banner: withRequire,
});
// What other programs import: with the libraries that are installed next to it, whose types its declarations use.
const library = await build({
  ...options,
  entryPoints: { "bundle/index": "src/index.ts" },
  packages: "external",
});

const inputs = [program, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs));
mkdirSync(folder, { recursive: true });
const written = [
  ...[program, start, threads, library].flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => [path, contents]),
  ),
  [join(folder, "LICENSES.txt"), licensesOf(inputs)],
].map(([path, contents]) => replaceFile(path, contents));
// Also files of earlier builds.
for (const name of readdirSync(folder)) if (!written.includes(join(folder, name))) rmSync(join(folder, name));

/** A program that is started meanwhile reads the old file or the new one. */
function replaceFile(path, contents) {
  writeFileSync(`${path}.partial`, contents);
  renameSync(`${path}.partial`, path);
  return path;
}

/** The licences of the bundled libraries, which must be distributed with them. */
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

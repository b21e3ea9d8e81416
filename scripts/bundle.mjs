// Builds the program in `dist/src`: the program and the libraries that every command needs in one file, with V8's code cache next
// to it (reading and compiling hundreds of files costs 0.4 s of CPU time at each start), the threads, and the library. Needs
// esbuild and the package's own dependencies, no other development tool.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, "dist", "src");
const folder = join(built, "bundle");

/** Messages in fifty languages; the library uses English by default. */
const oneLanguage = {
  name: "one-language",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Width of the text of a help page: the newer version loads the tables of all scripts at each start, 12 ms. */
const oneWidth = {
  name: "one-width",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^string-width$/ }, ({ kind, pluginData }) =>
      pluginData === "as-usual"
        ? undefined
        : resolve("string-width", {
            kind,
            resolveDir: join(root, "node_modules", "cli-table3"),
            pluginData: "as-usual",
          }),
    );
  },
};

/** Histograms as WebAssembly, 39 kB that hardly compress: ours use the library's other implementation. */
const noWasm = {
  name: "no-wasm",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]hdr-histogram-js[\\/]dist[\\/]wasm[\\/]generated-wasm\.js$/ }, () => ({
      contents: 'exports.BINARY = "";',
    }));
  },
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
  metafile: true,
  write: false,
  logLevel: "warning",
  plugins: [oneLanguage, oneWidth, noWasm],
  // Loaded by few commands, or through paths that a bundle would break.
  external: [
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

// The live page loads its script from the program, so it is a string there (`page.ts`).
const pageScript = await build({
  ...options,
  entryPoints: ["src/telemetry/live/page-script/main.ts"],
  platform: "browser",
  format: "iife",
  target: "es2023",
});
const program = await build({
  ...options,
  entryPoints: { "bundle/cli": "src/cli/index.ts" },
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  define: { "import.meta.url": "bundleUrl", LIVE_PAGE_SCRIPT: JSON.stringify(pageScript.outputFiles[0].text) },
  // Called by `runProgram`.
  banner: { js: "(function(require,module,exports,bundleUrl,importModule){" },
  footer: { js: "})" },
});
const start = await build({ ...options, entryPoints: { main: "src/main.ts", program: "src/program.ts" } });
// Threads start from separate files, which must be next to the file that starts them.
const threads = await build({
  ...options,
  entryPoints: {
    "bundle/worker": "src/load/workers/worker.ts",
    "bundle/scrape-worker": "src/telemetry/watch/scrape-worker.ts",
    "bundle/stamped-server": "src/load/calibration/stamped-server.ts",
  },
  // CommonJS libraries require Node's own modules by name.
  banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
});
// What other programs import: with the libraries that are installed next to it, whose types its declarations use.
const library = await build({
  ...options,
  entryPoints: { "bundle/index": "src/index.ts" },
  packages: "external",
});

// With cached code, V8 forgets the base path that `import()` resolves against.
const text = program.outputFiles[0].text.replaceAll(/(?<![.\w$])import\(/g, "importModule(");
if (Buffer.byteLength(text) !== text.length) throw new Error("the bundle is read as ASCII, and is not.");
assertErrorNames(text);
const inputs = [program, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs));
const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
mkdirSync(folder, { recursive: true });
const written = [
  ...[start, threads, library].flatMap(({ outputFiles }) => outputFiles.map(({ path, contents }) => [path, contents])),
  [join(folder, "LICENSES.txt"), licensesOf(inputs)],
  [join(folder, "cli.cjs"), `/*${digest}*/${text}`],
].map(([path, contents]) => replaceFile(path, contents));
// Also the compiled code of earlier builds.
for (const name of readdirSync(folder)) if (!written.includes(join(folder, name))) rmSync(join(folder, name));

// In a separate process, because it runs the program, which prints. Without the cache the program works the same and starts more
// slowly. Its runs are no results of the job that builds: in GitHub Actions they would add their summaries to the job's.
const { GITHUB_ACTIONS: _, ...env } = process.env;
const compiled = spawnSync(process.execPath, [join(root, "scripts", "compile.mjs")], { encoding: "utf8", env });
if (compiled.status !== 0) process.stderr.write(`gauntlet: the program stays uncompiled. ${compiled.stderr}\n`);

/** A program that is started meanwhile reads the old file or the new one. */
function replaceFile(path, contents) {
  writeFileSync(`${path}.partial`, contents);
  renameSync(`${path}.partial`, path);
  return path;
}

/** Errors are distinguished by class name, and the bundler renames one of two classes with the same name. */
function assertErrorNames(text) {
  const own = Object.keys(program.metafile.inputs).filter((path) => !path.includes("node_modules/"));
  const names = own.flatMap((path) => {
    const classes = readFileSync(join(root, path), "utf8").matchAll(/\bclass (\w+) extends \w*Error\b/g);
    return [...classes].map(([, name]) => name);
  });
  for (const name of new Set(names)) {
    const kept = text.match(new RegExp(`\\b(?:class ${name}|${name}=class) extends `, "g")) ?? [];
    if (kept.length < names.filter((other) => other === name).length)
      throw new Error(`a class ${name} has another name in the bundle: call one of them differently.`);
  }
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

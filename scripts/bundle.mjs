// Bundles the built program and the libraries that every command needs into one file, with V8's code cache next to it: reading
// and compiling hundreds of files costs 0.4 s of CPU time at each start. `dist/src/main.js` loads it if nothing has been built
// since.
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
  outdir: folder,
  bundle: true,
  platform: "node",
  target: "node20.19",
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  write: false,
  logLevel: "warning",
  plugins: [oneLanguage, oneWidth, noWasm],
  // Loaded by few commands, or through paths that a bundle would break.
  external: ["fastify", "undici", "autocannon", "jiti", "junit-report-builder", "libsql", "@inquirer/prompts"],
};

rmSync(folder, { recursive: true, force: true });
const program = await build({
  ...options,
  entryPoints: { cli: join(built, "cli", "index.js") },
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  define: { "import.meta.url": "bundleUrl" },
  // Called by `runProgram`.
  banner: { js: "(function(require,module,exports,bundleUrl,importModule){" },
  footer: { js: "})" },
});
// Threads start from separate files, which must be next to the file that starts them.
const threads = await build({
  ...options,
  entryPoints: {
    worker: join(built, "load", "workers", "worker.js"),
    "scrape-worker": join(built, "app", "watch", "scrape-worker.js"),
    "stamped-server": join(built, "load", "calibration", "stamped-server.js"),
  },
  format: "esm",
  // CommonJS libraries require Node's own modules by name.
  banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
});

// With cached code, V8 forgets the base path that `import()` resolves against.
const text = program.outputFiles[0].text.replaceAll(/(?<![.\w$])import\(/g, "importModule(");
if (Buffer.byteLength(text) !== text.length) throw new Error("the bundle is read as ASCII, and is not.");
assertErrorNames(text);
mkdirSync(folder, { recursive: true });
for (const { path, contents } of threads.outputFiles) writeFileSync(path, contents);
const inputs = [program, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeFileSync(join(folder, "LICENSES.txt"), licensesOf(inputs));
// Last, and atomically: a program started meanwhile loads all of it or none.
const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
writeFileSync(join(folder, "cli.partial"), `/*${digest}*/${text}`);
renameSync(join(folder, "cli.partial"), join(folder, "cli.cjs"));

// In a separate process, because it runs the program, which prints. Without the cache the program works the same and starts more
// slowly. Its runs are no results of the job that builds: in GitHub Actions they would add their summaries to the job's.
const { GITHUB_ACTIONS: _, ...env } = process.env;
const compiled = spawnSync(process.execPath, [join(root, "scripts", "compile.mjs")], { encoding: "utf8", env });
if (compiled.status !== 0) process.stderr.write(`gauntlet: the program stays uncompiled. ${compiled.stderr}\n`);

/** Errors are distinguished by class name, and the bundler renames one of two classes with the same name. */
function assertErrorNames(text) {
  const own = Object.keys(program.metafile.inputs).filter((path) => path.startsWith("dist/"));
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

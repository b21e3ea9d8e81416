import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { deadLinks } from "../support/markdown.ts";

/** Bytes of the packed and the unpacked package that are small enough to go unnoticed. */
const MAX_PACKED_BYTES = 1_900_000;
const MAX_UNPACKED_BYTES = 7_000_000;

/** The settings of the npm or npx that runs these tests do not apply to the empty project. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

function run(program: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(program, args, { cwd, encoding: "utf8", env });
  expect(done.status, done.stdout + done.stderr).toBe(0);
  return done.stdout;
}

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** A folder with the tarball, and the package installed from it. */
let folder: string;
let packed: Packed;
let paths: readonly string[];
const installed = (path: string) => join(folder, "node_modules", "gateway-gauntlet", path);

beforeAll(() => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  // The build exists already; packing must not clean it while other tests are running.
  [packed] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], ROOT));
  paths = packed.files.map(({ path }) => path);
  writeFileSync(join(folder, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed.filename}`], folder);
  return () => temporary[Symbol.dispose]();
}, 300_000);

test("it has what it needs, nothing else, and is small", () => {
  expect(packed.size).toBeLessThan(MAX_PACKED_BYTES);
  expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES);
  for (const path of ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "schemas/target.schema.json"])
    expect(paths).toContain(path);
  // The program and the library in one file each, the threads, and the licences of the bundled libraries.
  expect(new Set(paths.filter((path) => path.startsWith("dist/") && !path.endsWith(".d.ts")))).toEqual(
    new Set([
      "dist/src/bundle/LICENSES.txt",
      "dist/src/bundle/cli.cjs",
      "dist/src/bundle/index.js",
      "dist/src/bundle/scrape-worker.js",
      "dist/src/bundle/stamped-server.js",
      "dist/src/bundle/worker.js",
      "dist/src/main.js",
    ]),
  );
  expect(paths.filter((path) => /^(test|bench|scripts|src)\/|\.tsbuildinfo$|\.env|\.map$|\/keys\//.test(path))).toEqual(
    [],
  );
  for (const path of paths.filter((one) => /\.[cm]?js$/.test(one)))
    expect(readFileSync(installed(path), "utf8"), path).not.toMatch(/^\s*\/[/*]# sourceMappingURL=/m);
});

test("publint and Are The Types Wrong? find nothing", async () => {
  const tarball = readFileSync(join(folder, packed.filename));
  const bytes = new Uint8Array(tarball).buffer;
  expect((await publint({ pack: { tarball: bytes }, strict: true })).messages).toEqual([]);
  // Only for modules of the newer kind, as package.json says.
  const attw = join(ROOT, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js");
  const report = run(process.execPath, [attw, packed.filename, "--profile", "esm-only", "--no-emoji"], folder);
  expect(report).toContain("gateway-gauntlet v");
});

test("installed, it judges a gateway", () => {
  const gauntlet = (...args: readonly string[]) =>
    spawnSync("./node_modules/.bin/gauntlet", args, { cwd: folder, encoding: "utf8", env });
  const conform = gauntlet("conform", "models", "--target", "embedded", "--out", "run");
  expect(conform.stdout + conform.stderr).toContain("PASS: embedded reference gateway");
  expect(conform.status).toBe(0);
  expect(gauntlet("--version")).toMatchObject({ status: 0, stdout: `${packed.version}\n` });
  writeFileSync(
    join(folder, "use.mjs"),
    'import { readRun, REQUIREMENTS } from "gateway-gauntlet";\nconsole.log(readRun("run").record.verdict.result, REQUIREMENTS.length > 140);\n',
  );
  expect(run(process.execPath, ["use.mjs"], folder)).toBe("pass true\n");
});

test("installed, its declarations are complete: an own suite compiles", () => {
  copyFileSync(join(ROOT, "docs/examples/own-suite.ts"), join(folder, "own-suite.ts"));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules", "@types")];
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2023",
    "--lib",
    "es2023,esnext.disposable",
    "--module",
    "nodenext",
  ];
  run(process.execPath, [tsc, ...options, ...types, "own-suite.ts"], folder);
});

test("installed, every link of the README leads somewhere", () => {
  expect(deadLinks(installed(""), "README.md")).toEqual([]);
});

/** Too large for the package, or of use in a clone only. */
const ONLY_IN_THE_REPOSITORY =
  /^docs\/matrix\/|\.png$|real-gateways\/.*\.html$|kill-matrix\.json$|key_table\.py$|action\.yml$|test\/reports\/comment\.md$/;

test("installed, every link of the other pages leads somewhere, or to something that is only in the repository", () => {
  const pages = paths.filter((path) => path.endsWith(".md") && path !== "README.md");
  expect(pages.length).toBeGreaterThan(30);
  const dead = pages.flatMap((page) => deadLinks(installed(""), page).map((link) => `${page}: ${link}`));
  expect(dead.filter((link) => !ONLY_IN_THE_REPOSITORY.test(link))).toEqual([]);
});

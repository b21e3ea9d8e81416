import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { readBundle } from "../../src/program.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

/** Bytes of the packed and the unpacked package that are small enough to go unnoticed. */
const MAX_PACKED_BYTES = 2_300_000;
const MAX_UNPACKED_BYTES = 8_500_000;

/** Packages that run a script at installation: development tools. */
const SCRIPTED = ["node_modules/esbuild", "node_modules/protobufjs"];

/** The settings of the npm or npx that runs these tests do not apply to the empty project. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const npm = (args: readonly string[], cwd: string) => {
  const done = spawnSync("npm", args, { cwd, encoding: "utf8", env });
  expect(done.status, done.stdout + done.stderr).toBe(0);
  return done.stdout;
};

test("publint accepts the manifest", async () => {
  const { messages } = await publint({ pkgDir: ROOT, strict: true });
  expect(messages).toEqual([]);
});

test("it can only be published with a statement of where it was built", () => {
  const { publishConfig } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(publishConfig).toEqual({ access: "public", provenance: true });
});

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

test("the lockfile pins every package by its content, from no other place than a registry", () => {
  const { lockfileVersion, packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const { "": own, ...rest } = packages as Record<string, Locked & Record<string, unknown>>;
  const locked = Object.entries(rest);
  expect(lockfileVersion).toBe(3);
  expect(locked.length).toBeGreaterThan(100);
  const loose = locked.filter(([, { integrity, link, resolved = "" }]) => {
    return link === true || !/^sha512-/.test(integrity ?? "") || /^(git|file|http:)/.test(resolved);
  });
  expect(loose.map(([path]) => path)).toEqual([]);
  // All packages that run code at installation are known; none of them is installed with the package itself.
  expect(locked.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual(SCRIPTED);
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    expect(own?.[kind]).toEqual(manifest[kind]);
    for (const range of Object.values(manifest[kind])) expect(range).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  }
});

test("packed and installed into an empty project, it judges a gateway and is typed", { timeout: 300_000 }, () => {
  using folder = temporaryFolder();
  // The build exists already; packing must not clean it while other tests are running.
  const [packed] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder.path], ROOT));
  expect(packed.size).toBeLessThan(MAX_PACKED_BYTES);
  expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES);
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path);
  for (const path of ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "schemas/target.schema.json"])
    expect(paths).toContain(path);
  // What makes it start fast, and the licences of the bundled libraries.
  for (const path of ["cli.cjs", "worker.js", "scrape-worker.js", "stamped-server.js", "LICENSES.txt"])
    expect(paths).toContain(`dist/src/bundle/${path}`);
  expect(
    paths.filter((path) => /^(test|bench|scripts|docs|examples|src)\/|\.tsbuildinfo$|\.env|\.map$|\.v8$/.test(path)),
  ).toEqual([]);
  writeFileSync(join(folder.path, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  npm(["install", "--prefer-offline", "--no-audit", "--no-fund", join(folder.path, packed.filename)], folder.path);
  const installed = (...args: readonly string[]) =>
    spawnSync("./node_modules/.bin/gauntlet", args, { cwd: folder.path, encoding: "utf8", env });
  const run = installed("conform", "models", "--target", "embedded", "--out", "run");
  expect(run.stdout + run.stderr).toContain("PASS: embedded reference gateway");
  expect(run.status).toBe(0);
  // What the build of another Node, or an incomplete build, would leave there.
  const bundle = join(folder.path, "node_modules", "gateway-gauntlet", "dist", "src", "bundle", "cli.cjs");
  writeFileSync(readBundle(bundle).compiledPath, readFileSync(process.execPath).subarray(0, 1_000_000));
  expect(installed("--version")).toMatchObject({ status: 0, stdout: `${packed.version}\n` });
  writeFileSync(
    join(folder.path, "use.mjs"),
    'import { readRun, REQUIREMENTS } from "gateway-gauntlet";\nconsole.log(readRun("run").record.verdict.result, REQUIREMENTS.length > 140);\n',
  );
  const used = spawnSync(process.execPath, ["use.mjs"], { cwd: folder.path, encoding: "utf8" });
  expect(used.stdout).toBe("pass true\n");
});

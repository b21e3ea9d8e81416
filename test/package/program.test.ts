import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { readBundle, runProgram, scriptOf } from "../../src/program.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

const BUNDLE = join(ROOT, "dist", "src", "bundle", "cli.cjs");

/** A bundle of one function, in the build's format. */
const bundleOf = (folder: string, result: string, digest = "0123456789abcdef") => {
  const path = join(folder, "cli.cjs");
  const body = `module.exports={main:()=>${result}}`;
  writeFileSync(path, `/*${digest}*/(function(require,module,exports,bundleUrl,importModule){${body}})`);
  return path;
};

const outcomeOf = (path: string): unknown => {
  const { main } = runProgram(scriptOf(readBundle(path)), path) as unknown as { main: () => unknown };
  return main();
};

const keepCompiled = (path: string): Buffer => {
  const bundle = readBundle(path);
  const data = scriptOf(bundle).createCachedData();
  writeFileSync(bundle.compiledPath, data);
  return data;
};

describe("what V8 compiled", () => {
  test("is used for its own text, and named after exactly this text and this Node", () => {
    using folder = temporaryFolder();
    const path = bundleOf(folder.path, "1");
    keepCompiled(path);
    const bundle = readBundle(path);
    expect(bundle.compiledPath).toContain("0123456789abcdef");
    for (const part of [process.version, process.platform, process.arch]) expect(bundle.compiledPath).toContain(part);
    expect(scriptOf(bundle).cachedDataRejected).toBe(false);
    expect(outcomeOf(path)).toBe(1);
  });

  test("is not used for another text of the same length, which V8 would not notice", () => {
    using folder = temporaryFolder();
    keepCompiled(bundleOf(folder.path, "1"));
    expect(outcomeOf(bundleOf(folder.path, "2", "fedcba9876543210"))).toBe(2);
  });

  test.each([
    ["nothing", 3, (_data: Buffer) => Buffer.alloc(0)],
    ["the first bytes", 4, (data: Buffer) => data.subarray(0, 10)],
    ["the first half", 5, (data: Buffer) => data.subarray(0, data.length >> 1)],
    ["something else", 6, (data: Buffer) => Buffer.alloc(data.length, "x")],
  ])("is ignored if its file holds %s", (_what, result, damaged) => {
    using folder = temporaryFolder();
    const path = bundleOf(folder.path, "1");
    const data = keepCompiled(path);
    writeFileSync(readBundle(path).compiledPath, damaged(data));
    // A text that is new to this process: V8 caches the others anyway.
    bundleOf(folder.path, String(result));
    expect(scriptOf(readBundle(path)).cachedDataRejected).toBe(true);
    expect(outcomeOf(path)).toBe(result);
  });

  test("imports modules that are found at run time, as the text alone does", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "own.mjs"), "export default 3;");
    const url = pathToFileURL(join(folder.path, "own.mjs")).href;
    const path = bundleOf(folder.path, `importModule(${JSON.stringify(url)})`);
    expect(await outcomeOf(path)).toMatchObject({ default: 3 });
    keepCompiled(path);
    expect(await outcomeOf(path)).toMatchObject({ default: 3 });
  });
});

test("a file that the build did not make is not run", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "cli.cjs");
  writeFileSync(path, "module.exports = {};");
  expect(() => readBundle(path)).toThrow(/is not a bundle/);
});

test("the build leaves a bundle that its Node takes compiled, and another one as text", () => {
  const compiled = readdirSync(dirname(BUNDLE)).filter((name) => name.endsWith(".v8"));
  expect(compiled).not.toEqual([]);
  const isOurs = compiled.some((name) => name.includes(`-${process.version}-`));
  // Run in a process without this one's flags.
  const ask = `
    import { existsSync } from "node:fs";
    const { readBundle, scriptOf } = await import(${JSON.stringify(pathToFileURL(join(ROOT, "dist", "src", "program.js")).href)});
    const bundle = readBundle(${JSON.stringify(BUNDLE)});
    console.log(existsSync(bundle.compiledPath), scriptOf(bundle).cachedDataRejected);`;
  const requested = spawnSync(process.execPath, ["--input-type=module", "-e", ask], { encoding: "utf8" });
  expect(requested.stdout, requested.stderr).toBe(isOurs ? "true false\n" : "false undefined\n");
});

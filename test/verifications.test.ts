import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../scripts/docs/generated-files.ts";

const verify = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/verify.mjs"), ...args], { encoding: "utf8" });

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

const names = [...verify().stdout.matchAll(/^ {2}([\w-]+) {2}/gm)].map(([, name]) => name);

test("without a name, `npm run verify` lists what it can verify; an unknown name is a usage error", () => {
  expect(names).toContain("mutations");
  expect(verify().status).toBe(0);
  const unknown = verify("mutation");
  expect(unknown.stderr).toContain('no verification "mutation"');
  expect(unknown.status).toBe(2);
});

test("a verification gets its arguments, and its exit code is the exit code", () => {
  const wrong = verify("nodes", "--surprising");
  expect(wrong.stderr).toContain("Unknown argument: surprising");
  expect(wrong.status).toBe(1);
});

test("every program that it starts exists", () => {
  const text = read("scripts/verify.mjs");
  const scripts = [...text.matchAll(/script\("(.+?)"\)/g)].map(([, path]) => `scripts/verify/${path}`);
  const tools = [...text.matchAll(/tool\("(.+?)"/g)].map(([, path]) => `node_modules/${path}`);
  expect(scripts.length + tools.length).toBe(names.length);
  expect([...scripts, ...tools].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every verification that a file of the repository names exists", () => {
  const { stdout } = spawnSync("git", ["grep", "-hoE", "npm run (--silent )?verify [a-z0-9-]+"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const named = new Set(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").at(-1)),
  );
  expect(named.size).toBeGreaterThan(15);
  expect([...named].filter((name) => !names.includes(name))).toEqual([]);
  expect(read("package.json")).not.toContain('"verify:');
});

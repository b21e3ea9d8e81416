import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { MODULES } from "../scripts/modules.ts";
import { LONG_TESTS } from "../scripts/verify/vitest/long-tests.ts";
import mutants from "../scripts/verify/vitest/vitest.mutants.config.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the linter keeps modules apart", () => {
  const probes = Object.keys(MODULES).map((name) => `${root}src/${name}/lint-probe`);
  afterAll(() => {
    for (const folder of probes) rmSync(folder, { recursive: true, force: true });
  });

  test("every import that is not in the table is rejected, every one in it is allowed", () => {
    const all = Object.keys(MODULES);
    for (const name of all) {
      mkdirSync(`${root}src/${name}/lint-probe`, { recursive: true });
      for (const other of all.filter((candidate) => candidate !== name)) {
        writeFileSync(
          `${root}src/${name}/lint-probe/${other}.ts`,
          `import * as x from "../../${other}/index.ts";\nexport { x };\n`,
        );
        writeFileSync(
          `${root}src/${name}/lint-probe/inside-${other}.ts`,
          `import * as x from "../../${other}/some-file.ts";\nexport { x };\n`,
        );
      }
    }
    const lint = spawnSync(
      process.execPath,
      [
        `${root}node_modules/@biomejs/biome/bin/biome`,
        "lint",
        "--only=style/noRestrictedImports",
        "--vcs-enabled=false",
        "--reporter=json",
        "--max-diagnostics=none",
        "src",
      ],
      { cwd: root, encoding: "utf8" },
    );
    const { diagnostics } = JSON.parse(lint.stdout.slice(lint.stdout.indexOf("{"))) as {
      diagnostics: { location: { path: string | { file: string } } }[];
    };
    const refused = diagnostics
      .map(({ location }) => JSON.stringify(location))
      .flatMap((text) => /src\/([\w-]+)\/lint-probe\/([\w-]+)\.ts/.exec(text)?.slice(1).join("→") ?? []);
    const expected = Object.entries(MODULES).flatMap(([name, { imports }]) =>
      all
        .filter((other) => other !== name)
        .flatMap((other) => [...(imports.includes(other) ? [] : [`${name}→${other}`]), `${name}→inside-${other}`]),
    );
    expect([...new Set(refused)].sort()).toEqual(expected.sort());
  });

  test("every folder of src is in the table, and no imports form a cycle", () => {
    const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(MODULES).sort());
    const reaches = (from: string, to: string, seen: readonly string[] = []): boolean =>
      !seen.includes(from) &&
      (MODULES[from]?.imports ?? []).some((next) => next === to || reaches(next, to, [...seen, from]));
    expect(Object.keys(MODULES).filter((name) => reaches(name, name))).toEqual([]);
  });
});

test("files that configurations name exist: one that was moved would no longer be run, or run twice", () => {
  const named = [...LONG_TESTS, ...(mutants.test?.include ?? [])].map((path) => path.replace(/\/\*.*$/, ""));
  expect(named.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
});

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { DEPTHS, FOLDERS_NEXT_TO_SRC, folderOf, MODULES } from "../scripts/modules.ts";
import { LONG_TESTS, SLOW_TESTS } from "../scripts/verify/vitest/long-tests.ts";
import mutants from "../scripts/verify/vitest/vitest.mutants.config.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The files of TypeScript in a folder, relative to the root of the repository, without those that the linter is tested with. */
const sourceFiles = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("lint-probe"))
    .map((path) => `${folder}/${path}`);

describe("the linter keeps modules apart", () => {
  const all = [...Object.keys(MODULES), ...Object.keys(FOLDERS_NEXT_TO_SRC)];
  const importsOf = (name: string) => (MODULES[name] ?? FOLDERS_NEXT_TO_SRC[name])?.imports ?? [];
  // With a folder of the commands, which do not import each other.
  const probes = [...all.map((name) => `${folderOf(name)}/lint-probe`), "src/commands/lint-probe/deeper"];
  afterAll(() => {
    for (const folder of probes) rmSync(`${root}${folder}`, { recursive: true, force: true });
  });

  test("every import that is not in the table is rejected, every one in it is allowed", () => {
    const write = (folder: string, name: string, path: string) => {
      const specifier = relative(folder, path);
      writeFileSync(`${root}${folder}/${name}.ts`, `import * as x from "${specifier}";\nexport { x };\n`);
    };
    for (const name of all) {
      const folder = `${folderOf(name)}/lint-probe`;
      mkdirSync(`${root}${folder}`, { recursive: true });
      for (const other of all.filter((candidate) => candidate !== name)) {
        write(folder, other.replace("/", "."), `${folderOf(other)}/index.ts`);
        write(folder, `inside-${other.replace("/", ".")}`, `${folderOf(other)}/some-file.ts`);
      }
    }
    mkdirSync(`${root}src/commands/lint-probe/deeper`, { recursive: true });
    write("src/commands/lint-probe", "command", "src/commands/load/options.ts");
    write("src/commands/lint-probe/deeper", "command", "src/commands/load/run.ts");
    write("src/commands/lint-probe/deeper", "module", "src/load/index.ts");
    const lint = spawnSync(
      process.execPath,
      [
        `${root}node_modules/@biomejs/biome/bin/biome`,
        "lint",
        "--only=style/noRestrictedImports",
        "--vcs-enabled=false",
        "--reporter=json",
        "--max-diagnostics=none",
        ...new Set(all.map((name) => folderOf(name).split("/")[0] ?? "")),
      ],
      { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
    );
    const { diagnostics } = JSON.parse(lint.stdout.slice(lint.stdout.indexOf("{"))) as {
      diagnostics: { location: { path: string | { file: string } } }[];
    };
    const refused = diagnostics
      .map(({ location }) => JSON.stringify(location))
      .flatMap((text) => /([\w/-]+)\/lint-probe\/([\w./-]+)\.ts/.exec(text)?.slice(1).join("→") ?? []);
    const expected = all.flatMap((name) =>
      all
        .filter((other) => other !== name)
        .map((other) => [other, other.replace("/", ".")] as const)
        .flatMap(([other, file]) => [
          ...(importsOf(name).includes(other) ? [] : [`${folderOf(name)}→${file}`]),
          `${folderOf(name)}→inside-${file}`,
        ]),
    );
    expect([...new Set(refused)].sort()).toEqual(
      [...expected, "src/commands→command", "src/commands→deeper/command"].sort(),
    );
  });

  test("every file of src is in one module, not deeper than the rules reach, and no imports form a cycle", () => {
    const files = sourceFiles("src").filter((path) => path.split("/").length > 2);
    const modulesOf = (path: string) => all.filter((name) => path.startsWith(`${folderOf(name)}/`));
    expect(files.filter((path) => modulesOf(path).length !== 1)).toEqual([]);
    const levels = (path: string, name: string) => path.split("/").length - folderOf(name).split("/").length - 1;
    const deepest = [...files, ...sourceFiles("suites"), ...sourceFiles("reports")].flatMap((path) =>
      modulesOf(path).map((name) => levels(path, name)),
    );
    expect(Math.max(...deepest)).toBeLessThanOrEqual(Math.max(...DEPTHS));
    const reaches = (from: string, to: string, seen: readonly string[] = []): boolean =>
      !seen.includes(from) && importsOf(from).some((next) => next === to || reaches(next, to, [...seen, from]));
    expect(all.filter((name) => reaches(name, name))).toEqual([]);
  });
});

test("files that configurations name exist: one that was moved would no longer be run, or run twice", () => {
  const named = [...LONG_TESTS, ...SLOW_TESTS, ...(mutants.test?.include ?? [])].map((path) =>
    path.replace(/\/\*.*$/, ""),
  );
  expect(named.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
});

test("what every command loads of the reports does not load the schemas of claims", () => {
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = readFileSync(`${root}${path}`, "utf8");
    for (const [, from = ""] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from "(\.[^"]+)";$/gm))
      load(join(dirname(path), from));
  };
  load("reports/index.ts");
  load("src/commands/report/run.ts");
  expect(loaded).toContain("reports/html/page.tsx");
  expect([...loaded].filter((path) => path.startsWith("src/claims/"))).toEqual([]);
});

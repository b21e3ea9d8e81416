import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What each room may import. The linter holds the same table; this one is how it is known to. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  spec: ["core"],
  wire: ["core"],
  client: ["core", "wire"],
  target: ["core", "client"],
  metrics: ["core"],
  record: ["core", "metrics"],
  conformance: ["core", "spec", "wire", "client", "target", "record"],
  load: ["core", "wire", "client", "target", "metrics", "record"],
  engines: ["core", "target", "metrics", "record"],
  compare: ["core", "metrics", "record"],
  policy: ["core", "record"],
  gateway: ["core"],
  conduct: ["core", "spec", "wire", "record", "gateway"],
};

describe("the linter keeps the rooms apart", () => {
  const probes = Object.keys(ROOMS).map((room) => `${root}src/${room}/lint-probe`);
  afterAll(() => {
    for (const folder of probes) rmSync(folder, { recursive: true, force: true });
  });

  test("every import that the table does not have is refused, every one that it has is not", () => {
    const all = [...Object.keys(ROOMS), "cli"];
    for (const room of Object.keys(ROOMS)) {
      mkdirSync(`${root}src/${room}/lint-probe`, { recursive: true });
      for (const other of all.filter((candidate) => candidate !== room)) {
        writeFileSync(
          `${root}src/${room}/lint-probe/${other}.ts`,
          `import * as x from "../../${other}/index.ts";\nexport { x };\n`,
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
      .flatMap((text) => /src\/(\w+)\/lint-probe\/(\w+)\.ts/.exec(text)?.slice(1).join("→") ?? []);
    const expected = Object.entries(ROOMS).flatMap(([room, may]) =>
      all.filter((other) => other !== room && !may.includes(other)).map((other) => `${room}→${other}`),
    );
    expect([...new Set(refused)].sort()).toEqual(expected.sort());
  });

  test("every room of the tree is in the table", () => {
    const rooms = readdirSync(`${root}src`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(rooms.filter((room) => !(room in ROOMS) && room !== "cli")).toEqual([]);
  });
});

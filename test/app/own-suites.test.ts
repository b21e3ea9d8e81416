import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

/** A folder in which `gateway-gauntlet` can be imported, as in a project that depends on it. */
function project() {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(ROOT, join(folder.path, "node_modules", "gateway-gauntlet"), "dir");
  return folder;
}

const NINE = `
import { defineCheck } from "gateway-gauntlet";
let turn = 0;
let flips = 0;
const check = (name, judge, more = {}) => defineCheck({
  id: "acme." + name,
  title: "Comes out as " + name,
  covers: ["BASE-3", "BASE-4", "CHAT-8", "BASE-5"],
  explains: "One of the nine things that can become of a check.",
  cost: { requests: 1 },
  async run(t) { return { answer: await t.send(), turn: ++turn }; },
  judge,
  ...more,
});
export default [
  check("pass", ({ answer }, v) => v.must("BASE-3", answer.status, 200)),
  check("fail", ({ answer }, v) => v.must("BASE-3", answer.status, 299)),
  check("warn", ({ answer }, v) => v.should("BASE-4", answer.status, 299)),
  check("observed", ({ answer }, v) => v.observe("BASE-5", answer.status)),
  check("not-applicable", (_, v) => v.notApplicable("not here")),
  check("blocked", () => {}, { needs: ["key.revoked"] }),
  check("inconclusive", (_, v) => v.inconclusive("cannot tell")),
  check("harness-error", () => { throw new Error("a judge that breaks"); }),
  check("flaky", ({ turn }, v) => v.must("BASE-3", turn % 2, 1), { run: async () => ({ turn: ++flips }) }),
];
`;

describe("suites of one's own", () => {
  test("each of the nine statuses is produced, and rejudge agrees", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "nine.mjs"), NINE);
    const given = ["--suite", "nine.mjs"];
    const { stdout, code } = await gauntlet(
      ["conform", "acme", ...given, "--repeat", "2", "--json", "--out", "r", "--target", "t.yaml"],
      runningTarget(folder.path),
      folder.path,
    );
    const { checks } = JSON.parse(stdout);
    expect(checks.map(({ id, status }: { id: string; status: string }) => id === `acme.${status}`)).toEqual(
      Array(9).fill(true),
    );
    expect(code).toBe(1);
    const again = await gauntlet(["rejudge", "r", ...given, "--json"], {}, folder.path);
    expect(JSON.parse(again.stdout).changed).toEqual([]);
  });

  test.each([
    ["harness-error", 5],
    ["inconclusive", 4],
    ["blocked", 4],
    ["observed", 4],
    ["not-applicable", 4],
    ["warn", 0],
    ["pass", 0],
    ["fail", 1],
  ])("a run of nothing but %s ends with %i", async (status, exit) => {
    using folder = project();
    writeFileSync(join(folder.path, "nine.mjs"), NINE);
    const { code } = await gauntlet(
      ["conform", "--only", `acme.${status}`, "--suite", "nine.mjs", "--out", "r", "--target", "t.yaml"],
      runningTarget(folder.path),
      folder.path,
    );
    expect(code).toBe(exit);
  });

  test.each([
    // As `npm init --yes` writes it.
    "commonjs",
    "module",
  ])(
    "the documented one runs from TypeScript in a %s package, is explained, and its facts stand in the record",
    async (type) => {
      using folder = project();
      writeFileSync(join(folder.path, "package.json"), JSON.stringify({ type }));
      copyFileSync(join(ROOT, "docs", "examples", "own-suite.ts"), join(folder.path, "own-suite.ts"));
      const given = ["--suite", "./own-suite.ts"];
      const run = await gauntlet(["conform", "acme", "--target", "embedded", ...given, "--out", "r"], {}, folder.path);
      expect(run.stderr).not.toContain("gauntlet: the suite");
      expect(run.code).toBe(0);
      const { checks } = JSON.parse(readFileSync(join(folder.path, "r", "run.json"), "utf8"));
      expect(checks.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
        ["acme.temperature[chat]", "pass"],
        ["acme.temperature[messages]", "pass"],
        ["acme.region", "observed"],
      ]);
      expect((await gauntlet(["explain", "acme.region", ...given], {}, folder.path)).stdout).toContain("region");
    },
  );

  test.each([
    { module: "nodenext", resolution: "nodenext" },
    { module: "esnext", resolution: "bundler" },
  ])("the documented one is right by its types, and an OPEN requirement is refused by must(), by $resolution", (by) => {
    const { module, resolution } = by;
    using folder = project();
    const text = readFileSync(join(ROOT, "docs", "examples", "own-suite.ts"), "utf8");
    writeFileSync(join(folder.path, "good.ts"), text);
    writeFileSync(join(folder.path, "bad.ts"), text.replace('"MSG-1" : "CHAT-1"', '"MSG-14" : "CHAT-1"'));
    const check = (name: string) =>
      spawnSync(
        process.execPath,
        [
          join(ROOT, "node_modules", "typescript", "bin", "tsc"),
          ...[
            "--noEmit",
            "--strict",
            "--skipLibCheck",
            "--module",
            module,
            "--moduleResolution",
            resolution,
            "--target",
            "es2023",
            "--lib",
            "es2023,esnext.disposable",
          ],
          ...["--preserveSymlinks", "--types", "", name],
        ],
        { cwd: folder.path, encoding: "utf8" },
      );
    expect(check("good.ts")).toMatchObject({ stdout: "", status: 0 });
    expect(check("bad.ts").stdout).toMatch(/bad\.ts\(\d+.*MSG-14/);
  });

  test.each<[what: string, text: string, says: RegExp]>([
    ["is not there", "", /cannot be loaded: /],
    ["does not parse", "export default [", /cannot be loaded: /],
    ["exports no checks", "export default [1];", /is no suite: its default export must be a list of checks/],
    ["exports nothing", "export const x = 1;", /is no suite/],
    [
      "takes an id that is taken",
      NINE.replaceAll("acme.", "auth."),
      /the suite of "auth\.pass" is one of the built-in ones[\s\S]*a name of your own/,
    ],
    ["has an id twice", NINE.replace('check("fail"', 'check("pass"'), /there is already a check "acme\.pass"/],
  ])("a module that %s is refused with exit code 2", async (what, text, says) => {
    using folder = project();
    if (what !== "is not there") writeFileSync(join(folder.path, "s.mjs"), text);
    const { code, stderr } = await gauntlet(["conform", "--target", "embedded", "--suite", "s.mjs"], {}, folder.path);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });
});

let gateway: Running;
let ready: { readonly baseUrl: string; readonly keys: { readonly valid: string } };

beforeAll(async () => {
  gateway = startGauntlet(["gateway"]);
  ready = JSON.parse(await gateway.printed("\n"));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A target file for a running gateway, of which one key is known. */
function runningTarget(folder: string): Record<string, string> {
  writeFileSync(
    join(folder, "t.yaml"),
    `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\n`,
  );
  return { K: ready.keys.valid };
}

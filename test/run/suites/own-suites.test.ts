import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/docs/generated-files.ts";
import { REQUIREMENTS } from "../../../src/requirements/index.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

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
  async run(t) { return { response: await t.send(), turn: ++turn }; },
  judge,
  ...more,
});
export default [
  check("pass", ({ response }, v) => v.must("BASE-3", response.status, 200)),
  check("fail", ({ response }, v) => v.must("BASE-3", response.status, 299)),
  check("warn", ({ response }, v) => v.should("BASE-4", response.status, 299)),
  check("observed", ({ response }, v) => v.observe("BASE-5", response.status)),
  check("not-applicable", (_, v) => v.notApplicable("not here")),
  check("blocked", () => {}, { needs: ["key.revoked"] }),
  check("inconclusive", (_, v) => v.inconclusive("cannot tell")),
  check("harness-error", () => { throw new Error("a judge that breaks"); }),
  check("flaky", ({ turn }, v) => v.must("BASE-3", turn % 2, 1), { run: async () => ({ turn: ++flips }) }),
];
`;

const MISTAKES = `import { absent, defineCheck } from "gateway-gauntlet";
const common = {
  title: "A check of a beginner",
  covers: ["BASE-3", "BASE-5"],
  explains: "Has one mistake.",
  cost: { requests: 1 },
  async run(t: any) {
    return { r: await t.send() };
  },
} as const;
const check = (id: any, judge: any, more: any = {}) => defineCheck({ ...common, id, judge, ...more } as any);
export default [
  check("acme.property", ({ r }, v) => v.must("BASE-3", r.code, 200, { in: r, at: "status" })),
  check("acme.nowhere", ({ r }, v) => v.must("BASE-3", r.code, 200)),
  check("acme.expected", ({ r }, v) => v.must("BASE-3", r.status, r.ok, { in: r, at: "status" })),
  check("acme.uncovered", ({ r }, v) => v.must("CHAT-1", r.status, 200)),
  check("acme.open", ({ r }, v) => v.must("BASE-5", r.status, 200)),
  check("acme.judge", ({ r }: { r: { usage?: { total: number } } }, v) => {
    r.usage!.total = 1;
  }),
  check("acme.run", () => {}, {
    run: async (t: any) => (await t.send()).nothing.text,
  }),
  check("acme.async", async ({ r }, v) => v.must("BASE-3", r.status, 299)),
  check("acme.header", ({ r }, v) => v.must("BASE-3", r.header("x-region"), "eu", { in: r, at: "X-Region" })),
  check("acme.optional", ({ r }, v) => v.must("BASE-3", r.header("x-region"), absent)),
  check("acme.option", () => {}, { run: async (t: any) => ({ r: await t.send({ feilds: { temperature: 1 } }) }) }),
];
`;

const OWN_REQUIREMENT_HEAD =
  'import { defineCheck, defineRequirement } from "gateway-gauntlet"; const common = { title: "A", explains: "B.", cost: { requests: 1 }, run: async (t) => ({ r: await t.send() }), judge() {} };';

const OWN_REQUIREMENTS = `${OWN_REQUIREMENT_HEAD}
const status = defineRequirement({
  id: "ACME-STATUS", level: "MUST", text: "Every reply has the status 299.", source: "handbook, 4.2",
});
const region = defineRequirement({ id: "ACME-REGION", level: "SHOULD", text: "Every response names its region." });
const check = (id, covers, judge) => defineCheck({ ...common, id, covers, judge });
export default [
  check("acme.status", [status], ({ r }, v) => v.must(status, r.status, 299, { in: r, at: "status" })),
  check("acme.region", [region], ({ r }, v) => v.should(region, r.header("x-region"), "eu", { in: r, at: "X-Region" })),
  check("acme.both", [status, "BASE-5"], ({ r }, v) => v.must(status, r.status, 200, { in: r, at: "status" })),
];
`;

/** Lists its model and resets the connections of all other requests. */
async function resettingGateway() {
  const server = createServer((request, response) => {
    if (request.method !== "GET") request.socket.destroy();
    else response.setHeader("content-type", "application/json").end('{"object":"list","data":[{"id":"m"}]}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

describe("your own suites", () => {
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
    // As generated by `npm init --yes`.
    "commonjs",
    "module",
  ])(
    "the documented one runs from TypeScript in a %s package, is explained, and its facts are in the record",
    async (type) => {
      using folder = project();
      writeFileSync(join(folder.path, "package.json"), JSON.stringify({ type }));
      copyFileSync(join(ROOT, "docs", "examples", "own-suite.ts"), join(folder.path, "own-suite.ts"));
      const given = ["--suite", "./own-suite.ts"];
      const run = await gauntlet(["conform", "acme", "--target", "embedded", ...given, "--out", "r"], {}, folder.path);
      expect(run.stderr).not.toContain("cannot be loaded");
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
  ])("the documented one typechecks, and must() rejects an OPEN requirement, by $resolution", (by) => {
    const { module, resolution } = by;
    using folder = project();
    const text = readFileSync(join(ROOT, "docs", "examples", "own-suite.ts"), "utf8");
    writeFileSync(join(folder.path, "good.ts"), text);
    writeFileSync(join(folder.path, "bad.ts"), text.replace("must(temperature", 'must("MSG-14"'));
    writeFileSync(join(folder.path, "should.ts"), text.replace("must(temperature", "must(region"));
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
    expect(check("should.ts").stdout).toMatch(/should\.ts\(\d+.*CustomRequirement<"SHOULD">/);
  });

  test.each<[what: string, text: string, says: RegExp]>([
    ["is not there", "", /^gauntlet: --suite: there is no file s\.mjs$/m],
    [
      "does not parse",
      "export default [\n  { a: 1 b: 2 },\n];\n",
      /^gauntlet: s\.mjs:2:10: Unexpected identifier.*\n {2}The suite s\.mjs cannot be loaded until this is fixed\.$/m,
    ],
    ["throws when it is imported", "const a = {};\n\n  a.b.c();\n", /s\.mjs:3:7: Cannot read properties of undefined/],
    ["imports what does not exist", '\nimport "./nowhere.mjs";\n', /s\.mjs:2:11: Cannot find module/],
    [
      "imports a name that does not exist",
      'import { x } from "node:fs";\n',
      /s\.mjs:1:10: .* does not provide an export/,
    ],
    [
      "exports no checks",
      "\nexport default [1];",
      /s\.mjs:2:1 is not a suite: .* a list of checks, but element 1 is not a check/,
    ],
    [
      "exports an empty list",
      "export default [];",
      /is not a suite: its default export must be a list of checks, but it is empty/,
    ],
    ["exports nothing", "export const x = 1;", /s\.mjs is not a suite: .* but it is missing[\s\S]*defineCheck/],
    [
      "has a misspelt optional field",
      NINE.replace("cost: { requests: 1 },", "cost: { requests: 1 }, reachs: {},"),
      /unknown field "reachs" \(did you mean "reaches"\?\)/,
    ],
    ["takes an id that is taken", NINE.replaceAll("acme.", "auth."), /"auth" is a built-in suite[\s\S]*another prefix/],
    ["has an id twice", NINE.replace('check("fail"', 'check("pass"'), /duplicate check id "acme\.pass"/],
    [
      "names an unknown mode",
      NINE.replace("cost: { requests: 1 },", 'cost: { requests: 1 }, across: { mode: ["plain"] },'),
      /s\.mjs:5:43: the check "acme\.pass" is not defined correctly: "across\.mode" contains "plain", which is not known: use "non-streaming" or "streaming"/,
    ],
    [
      "defines a check incorrectly",
      NINE.replace('"BASE-5"]', '"BASE-55"]').replace("cost: { requests: 1 },", 'needs: ["key.revokd"],'),
      /s\.mjs:5:43: the check "acme\.pass" is not defined correctly: "covers" contains "BASE-55", which is not known \(did you mean "BASE-5"\?\); "cost" must be .*; "needs" contains "key\.revokd", which is not known \(did you mean "key\.revoked"\?\)/,
    ],
  ])("a module that %s is refused with exit code 2, with its place", async (what, text, says) => {
    using folder = project();
    if (what !== "is not there") writeFileSync(join(folder.path, "s.mjs"), text);
    const { code, stderr } = await gauntlet(["conform", "--target", "embedded", "--suite", "s.mjs"], {}, folder.path);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  test.each<[what: string, text: string, says: RegExp]>([
    ["does not parse", "type A = 1;\nexport default [\n  { a: 1 b: 2 },\n];\n", /s\.ts:3:10: Unexpected token/],
    // The loader changes the columns of this line.
    [
      "throws when it is imported",
      'import { EXIT } from "gateway-gauntlet";\ninterface A { readonly b: { c: number } | undefined }\nconst a: A = { b: undefined };\nexport default [EXIT.pass, EXIT.pass, a.b!.c];\n',
      /s\.ts:4:44: Cannot read properties of undefined/,
    ],
    ["imports one that does not parse", 'import "./bad.mjs";\nexport default [];\n', /bad\.mjs:1:9: Unexpected token/],
  ])("the same for TypeScript that %s", async (_what, text, says) => {
    using folder = project();
    writeFileSync(join(folder.path, "bad.mjs"), "let a = = 1;");
    writeFileSync(join(folder.path, "s.ts"), text);
    const { code, stderr } = await gauntlet(["checks", "--suite", "s.ts"], {}, folder.path);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  test("a module whose imported module does not parse: the place is in the imported one", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "bad.mjs"), "\nlet a = = 1;");
    writeFileSync(join(folder.path, "s.mjs"), 'import "./bad.mjs";\nexport default [];\n');
    const { code, stderr } = await gauntlet(["checks", "--suite", "s.mjs"], {}, folder.path);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^gauntlet: bad\.mjs:2:9: .*\n {2}The suite s\.mjs cannot be loaded/),
    ]);
  });

  test.each<[what: string, text: string, says: string]>([
    [
      "has the id of a built-in one",
      'const a = 1;\n  defineRequirement({ id: "AUTH-1", level: "MUST", text: "A." });',
      's.mjs:3:3: the requirement "AUTH-1" is not defined correctly: "AUTH-1" is a built-in requirement: use a prefix of your own, such as "ACME-"',
    ],
    [
      "begins like a built-in one",
      'defineRequirement({ id: "AUTH-99", level: "MUST", text: "A." });',
      's.mjs:2:1: the requirement "AUTH-99" is not defined correctly: the prefix "AUTH-" is reserved for built-in requirements: use your own, such as "ACME-"',
    ],
    [
      "has everything wrong",
      'defineRequirement({ id: "acme-1", level: "MAY", text: " ", source: 1 });',
      's.mjs:2:1: the requirement "acme-1" is not defined correctly: "id" must be uppercase letters and digits separated by hyphens, such as "ACME-REGION", not "acme-1"; "level" must be "MUST" or "SHOULD", not "MAY"; "text" must be a non-empty string, not " "; "source" must be a non-empty string, not 1',
    ],
    [
      "is named without having been defined",
      'const covers = ["ACME-1"];\nexport default [defineCheck({ ...common, covers, id: "acme.a" })];',
      's.mjs:3:17: the check "acme.a" is not defined correctly: "covers" contains "ACME-1", which is not known',
    ],
    [
      "is defined twice",
      'const one = (text) => [defineRequirement({ id: "ACME-1", level: "MUST", text })];\nexport default [defineCheck({ ...common, id: "acme.a", covers: one("A.") }), defineCheck({ ...common, id: "acme.b", covers: one("B.") })];',
      's.mjs:2:48: the requirement "ACME-1" has two different definitions',
    ],
  ])("rejects a custom requirement that %s, and says where", async (_what, text, says) => {
    using folder = project();
    writeFileSync(join(folder.path, "s.mjs"), `${OWN_REQUIREMENT_HEAD}\n${text}`);
    const { code, stderr } = await gauntlet(["checks", "--suite", "s.mjs"], {}, folder.path);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  test("a custom requirement is reported like a built-in one, but counts toward neither coverage nor a claim", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "s.mjs"), OWN_REQUIREMENTS);
    const given = ["--suite", "./s.mjs"];
    const at = (...path: string[]) => readFileSync(join(folder.path, "r", ...path), "utf8");
    const run = await gauntlet(
      ["conform", "acme", "models", "--target", "embedded", ...given, "--profile", "chat", "--out", "r"],
      {},
      folder.path,
    );
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("ACME-STATUS (MUST)");
    expect(run.stdout).toContain("Every reply has the status 299.");
    const { checks, requirements, causes, profiles } = JSON.parse(at("run.json"));
    const ofSuite = checks.filter(({ suite }: { suite: string }) => suite === "acme");
    expect(ofSuite).toMatchObject([
      { id: "acme.status", layer: "custom", status: "fail", requirements: ["ACME-STATUS"], violated: ["ACME-STATUS"] },
      { id: "acme.region", layer: "custom", status: "warn", violated: ["ACME-REGION"] },
      { id: "acme.both", layer: "specification", status: "pass", requirements: ["ACME-STATUS", "BASE-5"] },
    ]);
    expect(requirements.filter(({ layer }: { layer: string }) => layer === "custom")).toEqual([
      {
        ...{ id: "ACME-STATUS", layer: "custom", level: "MUST", binds: "gateway", area: "acme" },
        ...{ source: "handbook, 4.2", text: "Every reply has the status 299." },
      },
      {
        ...{ id: "ACME-REGION", layer: "custom", level: "SHOULD", binds: "gateway", area: "acme" },
        ...{ source: "custom suite", text: "Every response names its region." },
      },
    ]);
    expect(causes).toMatchObject([{ requirement: "ACME-STATUS" }, { requirement: "ACME-REGION" }]);
    expect(JSON.stringify(profiles)).not.toContain("ACME-");
    const counted = /[\d,]+ of ([\d,]+) gateway requirements were judged/.exec(at("report.html"))?.[1];
    expect(Number(counted)).toBe(REQUIREMENTS.filter(({ binds }) => binds === "gateway").length);
    expect(at("report.html")).toContain("Every response names its region.");
    expect(at("junit.xml")).toContain('name="requirements" value="ACME-STATUS"');
    await gauntlet(["report", "r", "--format", "sarif"], {}, folder.path);
    const { rules } = JSON.parse(at("report.sarif")).runs[0].tool.driver;
    expect(rules.map(({ properties }: { properties: { tags: string[] } }) => properties.tags)).toEqual([
      ["custom", "ACME-STATUS"],
      ["custom", "ACME-REGION"],
    ]);
    await gauntlet(["report", "r", "--format", "claim"], {}, folder.path);
    expect(JSON.parse(at("claim.json")).profiles.length).toBeGreaterThan(0);
    expect(at("claim.json")).not.toContain("ACME-");
    const again = await gauntlet(["rejudge", "r", ...given, "--json"], {}, folder.path);
    expect(JSON.parse(again.stdout).changed).toEqual([]);
  });

  test("a custom requirement is listed, explained, selected, and required by a policy", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "s.mjs"), OWN_REQUIREMENTS);
    const given = ["--suite", "./s.mjs"];
    const printed = async (...words: string[]) => (await gauntlet([...words, ...given], {}, folder.path)).stdout;
    expect(await printed("checks")).toContain("ACME-STATUS (MUST)");
    expect(await printed("explain", "ACME-STATUS")).toBe(
      "ACME-STATUS (MUST, custom, handbook, 4.2)\n  Every reply has the status 299.\n\nChecks: acme.status, acme.both\n",
    );
    expect(await printed("explain", "acme.region")).toContain(
      "ACME-REGION (SHOULD, custom suite): Every response names its region.",
    );
    writeFileSync(join(folder.path, "p.yaml"), "require: { requirements: [ACME-REGION] }\n");
    const words = ["run", "--only", "ACME-REGION", "--no-load", "--policy", "p.yaml", "--target", "embedded", "--json"];
    const { checks } = JSON.parse(await printed(...words));
    expect(checks.map(({ id }: { id: string }) => id)).toEqual(["acme.region"]);
    const { stderr } = await gauntlet(["run", "--policy", "p.yaml", "--target", "embedded"], {}, folder.path);
    expect(stderr).toContain('there is no requirement "ACME-REGION"');
  });

  test("a mistake in a check is an error of the suite, with its place, and never a failure of the gateway", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "m.ts"), MISTAKES);
    const { stdout, code } = await gauntlet(
      ["conform", "acme", "--suite", "m.ts", "--target", "embedded", "--out", "r"],
      {},
      folder.path,
    );
    const { checks, causes } = JSON.parse(readFileSync(join(folder.path, "r", "run.json"), "utf8"));
    const found = checks.map(({ id, status, message }: Record<string, string>) => [id, status, message]);
    const suite = (place: string, text: string) => `error in your suite, m.ts:${place}: ${text}`;
    const undefinedObserved = "the observed value of `must` is undefined";
    expect(found).toEqual([
      [
        "acme.property",
        "harness-error",
        suite("13:42", `${undefinedObserved}, although status of the response is 200.`),
      ],
      [
        "acme.nowhere",
        "harness-error",
        expect.stringContaining(suite("14:41", `${undefinedObserved}. If the gateway`)),
      ],
      [
        "acme.expected",
        "harness-error",
        expect.stringContaining(suite("15:42", "the expected value of `must` is undefined")),
      ],
      [
        "acme.uncovered",
        "harness-error",
        suite("16:43", '"CHAT-1" is not in the check\'s "covers". Add it to "covers".'),
      ],
      [
        "acme.open",
        "harness-error",
        suite("17:38", "`must` accepts only MUST requirements, and BASE-5 is OPEN. Use `observe`."),
      ],
      ["acme.judge", "harness-error", suite("19:19", "Cannot set properties of undefined (setting 'total')")],
      ["acme.run", "harness-error", suite("22:53", "Cannot read properties of undefined (reading 'text')")],
      ["acme.async", "harness-error", expect.stringContaining(suite("24:9", "the judge is async."))],
      // These are not mistakes: the header is missing, and may be.
      ["acme.header", "fail", expect.stringContaining("X-Region")],
      ["acme.optional", "pass", expect.anything()],
      [
        "acme.option",
        "harness-error",
        expect.stringMatching(
          /^error in your suite, m\.ts:27:\d+: unknown request option "feilds"\. Did you mean "fields"\?$/,
        ),
      ],
    ]);
    expect(causes).toHaveLength(1);
    expect(stdout).not.toMatch(/internal error|got 200/);
    expect(code).toBe(1);
    const alone = await gauntlet(
      ["conform", "--only", "acme.judge", "--suite", "m.ts", "--target", "embedded", "--out", "s"],
      {},
      folder.path,
    );
    expect([alone.code, alone.stdout]).toEqual([5, expect.stringContaining("exit code 5 (error in your suite)")]);
    const again = await gauntlet(["rejudge", "r", "--suite", "m.ts", "--json"], {}, folder.path);
    expect(JSON.parse(again.stdout).changed).toEqual([]);
  });

  test("a gateway that does not respond is not called a mistake of the suite", async () => {
    using folder = project();
    writeFileSync(join(folder.path, "m.ts"), MISTAKES);
    await using resetting = await resettingGateway();
    writeFileSync(
      join(folder.path, "t.yaml"),
      `baseUrl: http://127.0.0.1:${resetting.port}/v1\nkeys: { valid: env:K }\nmodels: { chat: m }\n`,
    );
    await gauntlet(
      ["conform", "--only", "acme.nowhere", "--suite", "m.ts", "--target", "t.yaml", "--out", "r"],
      { K: "sk-1234567890" },
      folder.path,
    );
    const { checks } = JSON.parse(readFileSync(join(folder.path, "r", "run.json"), "utf8"));
    expect(checks.map(({ status }: { status: string }) => status)).toEqual(["fail"]);
  });

  test("a function that throws while the run is planned is an error of the suite", async () => {
    using folder = project();
    writeFileSync(
      join(folder.path, "s.mjs"),
      NINE.replace("cost: { requests: 1 }", "cost: {\n    requests: (target) => target.nothing.rpm }"),
    );
    const { code, stderr } = await gauntlet(["conform", "--target", "embedded", "--suite", "s.mjs"], {}, folder.path);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /error in your suite, s\.mjs:11:42: `cost\.requests` of acme\.pass: Cannot read properties/,
      ),
    ]);
  });

  test("without the package, the message says how to get it", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "s.mjs"), NINE);
    const { code, stderr } = await gauntlet(["checks", "--suite", "s.mjs"], {}, folder.path);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/s\.mjs:2:30: Cannot find package.*\n {2}Install Gauntlet's tarball/),
    ]);
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

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileNames } from "../../reports/matrix/file-names.ts";
import { type Claim, claimText } from "../../src/claims/index.ts";
import { CLEAN, claimOf, conformantClaim, runForClaims, withRequirements } from "../support/claims.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { HOSTILE } from "../support/hostile.ts";
import { attribute, elementsIn, elementsOf, markdownElements, textOf, xmlProblems } from "../support/readers.ts";
import { startDelayedProvider } from "../support/start-delayed-provider.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const at = (...names: string[]) => join(folder.path, ...names);
const read = (...names: string[]) => readFileSync(at(...names), "utf8");
const claimFile = (name: string) => at("runs", name, "claim.json");
/** Three gateways, one of them in two versions. */
const NAMES = ["alpha-1.9", "alpha-1.10", "beta", "dirty"];
const FILES = NAMES.map(claimFile);
let alpha: Claim;

beforeAll(async () => {
  await runForClaims(at("good"));
  await runForClaims(at("bad"), ["stream.cut-after-a-second", "auth.messages-with-any-key"]);
  mkdirSync(at("runs"));
  const startedAt = (day: number) => `2026-11-${day}T12:00:00.000Z`;
  // The later version was tested first: the version decides the order.
  alpha = claimOf(at("good"), at("runs", "alpha-1.10"), { name: "alpha", version: "1.10.0", startedAt: startedAt(10) });
  claimOf(at("bad"), at("runs", "alpha-1.9"), { name: "alpha", version: "1.9.0", startedAt: startedAt(11) });
  claimOf(at("bad"), at("runs", "beta"), { name: "beta", version: "2", startedAt: startedAt(12) });
  const harness = { ...CLEAN, dirty: true };
  claimOf(at("good"), at("runs", "dirty"), { name: "dirty", version: "3", startedAt: startedAt(13), harness });
}, 240_000);

const matrix = (...args: string[]) => gauntlet(["matrix", ...args]);

type Element = ReturnType<typeof elementsOf>[number];

/** Cells of the table of a section, by row. */
function cellsOf(page: string, id = "matrix"): Element[][] {
  const section = elementsOf(page).find((element) => attribute(element, "id") === id);
  const table = section && elementsIn(section).find(({ tagName }) => tagName === "table");
  if (table === undefined) throw new Error(`the section ${id} has no table`);
  return elementsIn(table)
    .filter(({ tagName }) => tagName === "tr")
    .map((row) => elementsIn(row).filter(({ tagName }) => tagName === "th" || tagName === "td"));
}

/** The same as text. */
const overviewOf = (page: string, id = "matrix"): string[][] =>
  cellsOf(page, id).map((row) => row.map((cell) => textOf(cell).replace(/\s+/g, " ").trim()));

test("the page shows every gateway and version with its profiles, as sign and word with the reason", async () => {
  const { code, stdout } = await matrix(...FILES, "--out", at("page"));
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining("alpha, 1.10.0: chat: conformant · streaming: conformant"),
  ]);
  const [head = [], ...rows] = overviewOf(read("page", "index.html"));
  const column = (name: string) => head.findIndex((text) => text.startsWith(name));
  const cells = (name: string) => rows.map((row) => [row[0], row[column(name)]]);
  expect(cells("streaming")).toEqual([
    ["alpha1.10.0, 2026-11-10what changed", "✓conformantnot verified"],
    ["alpha1.9.0, 2026-11-11", expect.stringMatching(/^✗not conformantnot verified; \d causes?$/)],
    ["beta2, 2026-11-12", expect.stringMatching(/^✗not conformantnot verified; \d causes?$/)],
    ["dirty3, 2026-11-13", "◐partialnot verified; the harness was built with uncommitted changes"],
  ]);
  expect(cells("money")[0]?.[1]).toMatch(/^–not claimednot chosen; \d+ of \d+ MUST open$/);
  expect(read("page", "index.html")).not.toMatch(/<script|score of|\d %/);
});

test("for a need, the page names the gateways that meet every profile of it, and those that lack one", async () => {
  const claimed = (name: string, version: string, change: (claim: Claim) => Claim) => {
    const path = at(`needs-${name}-${version}.json`);
    const [gateway, id] = [{ name, version, startedWith: "run", server: null }, `${name} ${version}`];
    const sha256 = createHash("sha256").update(id).digest("hex");
    const base = conformantClaim({ gateway, record: { sha256, files: [] } });
    writeFileSync(path, claimText(change({ ...base, run: { ...base.run, id } })));
    return path;
  };
  const broken = (profile: string, requirement: string) => (claim: Claim) => {
    const changed = withRequirements(claim, profile, ({ id }) => (id === requirement ? { result: "broken" } : {}));
    const result = { result: "not-conformant", causes: 1 } as const;
    return {
      ...changed,
      profiles: changed.profiles.map((one) => (one.name === profile ? { ...one, ...result } : one)),
    };
  };
  const files = [
    claimed("meets-all", "2", (claim) => claim),
    claimed("meets-all", "1", broken("chat", "CHAT-1")),
    claimed("no-money", "1", broken("money", "SPEND-2")),
    claimed("was-better", "1", (claim) => claim),
    claimed("was-better", "2", (claim) => broken("money", "SPEND-2")(broken("chat", "CHAT-1")(claim))),
  ];
  expect((await matrix(...files, "--out", at("needs"))).code).toBe(0);
  const rows = overviewOf(read("needs", "index.html"), "needs");
  const row = (need: string) => rows.find(([first]) => first?.startsWith(need))?.slice(1);
  // Only the newest version of each counts, and nothing here was verified.
  expect(row("Both dialects, streaming, hard budgets")).toEqual([
    "✓meets-allnot verified",
    "no-money (money: not conformant)",
  ]);
  expect(row("Both dialects, streamingchat")).toEqual([
    "✓meets-allnot verified✓no-moneynot verified",
    "was-better (chat: not conformant)",
  ]);
});

describe("overhead", () => {
  const measured = at("measured");

  beforeAll(async () => {
    await using direct = await startDelayedProvider({ response: 0, first: 0, each: 0 });
    const target = (name: string, version: string) => {
      const lines = [`name: ${name}`, `baseUrl: ${direct.origin}/v1`, "keys: { valid: env:K }", "models: { chat: m }"];
      const gateway = `gateway: { version: "${version}" }`;
      writeFileSync(at(`${name}.yaml`), `${[...lines, gateway].join("\n")}\ndialects: [chat]\n`);
      return at(`${name}.yaml`);
    };
    const targets = [target("alpha", "1.10.0"), target("beta", "1")];
    const brief = ["--concurrency", "1", "--prompt-bytes", "500", "--rounds", "8", "--block-s", "0.1", "--no-frontier"];
    const args = ["overhead", "--target", ...targets, "--direct", target("direct", "1"), ...brief, "--anyway"];
    const { code, stderr } = await gauntlet([...args, "--out", measured], { K: "overhead-key-0815" });
    if (code !== 0 && code !== 4) throw new Error(stderr);
  }, 120_000);

  test("is a table of its own with intervals, and a cell without a figure has its reason", async () => {
    const { code } = await matrix(...FILES, "--overhead", measured, "--out", at("overhead"));
    expect(code).toBe(0);
    const [head = [], ...rows] = overviewOf(read("overhead", "index.html"), "overhead");
    expect(head.slice(0, 3)).toEqual([
      "Gateway",
      "response, p50non-streaming, 1 client, 500 B",
      "response, p99non-streaming, 1 client, 500 B",
    ]);
    const firstOf = (name: string) => rows.find(([gateway]) => gateway === name)?.[1];
    expect(firstOf("alpha1.10.0")).toMatch(/^−?\d+\.\d+−?\d+\.\d+ to −?\d+\.\d+/);
    expect(firstOf("alpha1.9.0")).toBe("–no figuremeasured with version 1.10.0");
    expect(firstOf("beta2")).toBe("–no figuremeasured with version 1");
    expect(firstOf("dirty3")).toBe("–no figurenot in this measurement");
    // No figure changes a result, and no result says anything about speed.
    await matrix(...FILES, "--out", at("no-overhead"));
    const [withIt, without] = ["overhead", "no-overhead"].map((name) => overviewOf(read(name, "index.html")));
    expect(withIt).toEqual(without);
    expect(read("no-overhead", "index.html")).toContain("No measurement was given (--overhead).");
  });

  test("of another run is an error", async () => {
    const { code, stderr } = await matrix(claimFile("beta"), "--overhead", at("good"), "--out", at("never"));
    expect(code).toBe(2);
    expect(stderr).toMatch(/--overhead: .*good is a run of `gauntlet conform`/);
  });
});

test("every link of the page leads to a place of the page or to a file next to it", async () => {
  await matrix(...FILES, "--out", at("links"));
  const elements = elementsOf(read("links", "index.html"));
  const ids = elements.flatMap((element) => attribute(element, "id") ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  const targets = elements.flatMap((element) => attribute(element, "href") ?? []);
  expect(targets.filter((href) => !ids.includes(href.slice(1)) && !existsSync(at("links", href)))).toEqual([]);
});

/** The part of the page that the cell of a profile leads to. */
function evidenceOf(page: string, gateway: string, profile: string): string {
  const [head = [], ...rows] = cellsOf(page);
  const column = head.findIndex((cell) => textOf(cell).startsWith(profile));
  const cell = rows.find(([first]) => first !== undefined && textOf(first).startsWith(gateway))?.[column];
  const link = cell === undefined ? undefined : elementsIn(cell).find(({ tagName }) => tagName === "a");
  const id = link === undefined ? undefined : attribute(link, "href")?.slice(1);
  const part = elementsOf(page).find((element) => attribute(element, "id") === id);
  if (id === undefined || part === undefined) throw new Error(`nothing has the id ${id}`);
  return textOf(part);
}

test("a failing cell leads to what was expected and observed, the exchange and the control request of the claim", async () => {
  await matrix(...FILES, "--out", at("claims-only"));
  const evidence = evidenceOf(read("claims-only", "index.html"), "beta", "streaming");
  expect(evidence).toMatch(/violated STREAM-\d/);
  expect(evidence).toMatch(/Expected: [\s\S]*Observed: [\s\S]*Check instances: [\s\S]*stream/);
  expect(evidence).toMatch(/What was judged[\s\S]*POST http\S+chat\/completions/);
  expect(evidence).toContain("The claim does not include a control request.");
  const denied = evidenceOf(read("claims-only", "index.html"), "beta", "models-and-auth");
  expect(denied).toMatch(
    /violated AUTH-\d[\s\S]*POST http\S+messages[\s\S]*Its control request\s*POST http\S+messages/,
  );
  expect(read("claims-only", "index.html")).toContain("no: run without --records");
});

test("with the records, claims are verified, and the findings and complete exchanges are shown", async () => {
  const { code, stdout } = await matrix(...FILES, "--records", at("runs"), "--out", at("verified"));
  expect([code, stdout]).toEqual([0, expect.stringContaining("beta, 2 [verified]: ")]);
  const page = read("verified", "index.html");
  expect(page.match(/yes: recomputed from the record, byte for byte/g)).toHaveLength(NAMES.length);
  const evidence = evidenceOf(page, "beta", "streaming");
  expect(evidence).toMatch(/Expected against observed/);
  expect(evidence).toMatch(/content-type: text\/event-stream/i);
  const some = await matrix(...FILES, "--records", at("runs", "beta"), "--out", at("verified"));
  expect(some.stdout).toMatch(/^beta, 2 \[verified\]: [\s\S]*^dirty, 3 \[no record given\]: /m);
});

test("a result that was not verified is marked in every cell, on badges and in the table; a verified one is not", async () => {
  const files = [claimFile("beta"), claimFile("alpha-1.10")];
  await matrix(...files, "--records", at("runs", "beta"), "--out", at("marked"));
  const cells = overviewOf(read("marked", "index.html"));
  expect(cells[1]?.[1]).toBe("✓conformantnot verified");
  expect(cells[2]?.[1]).toBe("✓conformant");
  expect(read("marked", "badge-alpha-chat.svg")).toContain("✓ conformant (not verified) · set ");
  expect(read("marked", "badge-beta-chat.svg")).toContain("✓ conformant · set ");
  const [, , ofAlpha, ofBeta] = read("marked", "matrix.md").split("\n");
  expect([ofAlpha, ofBeta]).toEqual([
    expect.stringContaining("| ✓ conformant: not verified |"),
    expect.not.stringContaining("not verified"),
  ]);
});

test("if --records has no record of any claim, the last line and the exit code say so", async () => {
  const { code, stdout } = await matrix(claimFile("alpha-1.10"), "--records", at("runs", "beta"), "--out", at("none"));
  expect(code).toBe(4);
  expect(stdout.trimEnd().split("\n").at(-1)).toBe(
    `exit code 4 (inconclusive): no claim was verified: ${at("runs", "beta")} contains no record of these claims`,
  );
  expect(existsSync(at("none", "index.html"))).toBe(true);
});

test("a run that cannot be read does not keep the claims of the others from being verified", async () => {
  mkdirSync(at("some", "a-damaged"), { recursive: true });
  writeFileSync(at("some", "a-damaged", "run.json"), "{");
  cpSync(at("runs", "beta"), at("some", "beta"), { recursive: true });
  const files = [claimFile("beta"), claimFile("alpha-1.10")];
  const { code, stdout } = await matrix(...files, "--records", at("some"), "--out", at("some-out"));
  expect([code, stdout]).toEqual([0, expect.stringContaining("beta, 2 [verified]: ")]);
  expect(stdout).toContain("alpha, 1.10.0 [no record given]: ");
});

test("text of a claim does not control the terminal", async () => {
  const hidden = "\u001b[2K\u001b[1GVERIFIED\u009b2K\nVERIFIED";
  const limited = { ...alpha, limitations: [hidden], gateway: { ...alpha.gateway, name: hidden } };
  const profiles = alpha.profiles.map((one) => (one.result === "conformant" ? { ...one, result: "partial" } : one));
  writeFileSync(at("escapes.json"), claimText({ ...limited, profiles } as Claim));
  const shown = await matrix(at("escapes.json"), "--out", at("escapes"));
  expect(shown.code).toBe(0);
  const verified = await gauntlet(["verify-claim", at("escapes.json"), "--record", at("runs", "alpha-1.10")]);
  expect([verified.code, verified.stdout]).toEqual([1, expect.stringMatching(/^REJECTED: [\s\S]*limitation: ␛\[2K/)]);
  for (const text of [shown.stdout, verified.stdout]) {
    expect(text).not.toMatch(/[^\n\P{Cc}]/u);
    expect(text).not.toMatch(/^VERIFIED/m);
  }
});

test("the feed has what changed between two versions, and matches its published schema", async () => {
  await matrix(...FILES, "--out", at("feed"));
  const feed = JSON.parse(read("feed", "changes.json"));
  const schema = JSON.parse(readFileSync("schemas/changes.schema.json", "utf8"));
  expect(schema.$id).toMatch(/schemas\/changes\.schema\.json$/);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  expect([validate(feed), validate.errors]).toEqual([true, null]);
  expect(validate({ ...feed, extra: 1 })).toBe(false);
  expect(feed.changes).toMatchObject([
    {
      gateway: "alpha",
      from: { version: "1.9.0", startedAt: "2026-11-11T12:00:00.000Z" },
      to: { version: "1.10.0", runId: alpha.run.id, recordSha256: alpha.record.sha256 },
      also: ["how the gateway was started"],
    },
  ]);
  const [{ profiles, requirements }] = feed.changes;
  expect(profiles).toContainEqual({
    name: "streaming",
    from: "not-conformant",
    to: "conformant",
    direction: "better",
  });
  expect(requirements).toContainEqual(
    expect.objectContaining({ profile: "streaming", from: "broken", to: "met", direction: "better" }),
  );
  expect(read("feed", "index.html")).toContain("alpha: 1.9.0 (2026-11-11) to 1.10.0 (2026-11-10)");
});

test("badges and the table for a README are of the newest version, and a limited claim is never conformant", async () => {
  await matrix(...FILES, "--records", at("runs"), "--out", at("badges"));
  const badge = (name: string) => read("badges", `badge-${name}.svg`);
  expect(badge("alpha-streaming")).toContain("✓ conformant · set ");
  expect(badge("alpha-streaming")).toContain("· 2026-11-10<");
  expect(badge("beta-streaming")).toContain("✗ not conformant");
  for (const name of readdirSync(at("badges")).filter((one) => one.startsWith("badge-dirty-")))
    expect(read("badges", name)).not.toContain("conformant ·");
  expect(badge("dirty-chat")).toContain("◐ partial");
  for (const name of readdirSync(at("badges")).filter((one) => one.endsWith(".svg")))
    expect(await xmlProblems(read("badges", name))).toEqual([]);
  const lines = read("badges", "matrix.md").split("\n");
  expect(lines.map((line) => line.split(" | ")[0])).toEqual(["| gateway", "| ---", "| alpha", "| beta", "| dirty", ""]);
  expect(lines[4]).not.toMatch(/✓|(?<!not )conformant/);
});

test("a badge that no claim has any more is deleted; other files stay", async () => {
  await matrix(...FILES, "--out", at("again"));
  writeFileSync(at("again", "badge-mine.svg"), "<svg/>");
  await matrix(claimFile("beta"), "--out", at("again"));
  const names = readdirSync(at("again"));
  expect(names).toContain("badge-beta-chat.svg");
  expect(names).toContain("badge-mine.svg");
  expect(names.filter((name) => name.startsWith("badge-alpha"))).toEqual([]);
});

test("a version of a profile that this program does not know is marked wherever it is conformant", async () => {
  const { profiles, ...rest } = alpha;
  const later = profiles.map((profile) => (profile.name === "chat" ? { ...profile, version: 99 } : profile));
  writeFileSync(at("later.json"), claimText({ ...rest, profiles: later }));
  await matrix(at("later.json"), "--out", at("later"));
  const note = "version 99 is unknown here: its list of requirements was not checked";
  expect(overviewOf(read("later", "index.html"))[1]?.[1]).toBe(`✓conformantnot verified; ${note}`);
  expect(read("later", "matrix.md")).toContain(`✓ conformant: not verified; ${note}`);
  expect(read("later", "badge-alpha-chat.svg")).toContain(">chat v99 (unknown)<");
});

test("names of different gateways never share a badge", () => {
  const names = [
    "a b",
    "a-b",
    "a/b",
    "../a b",
    "",
    "日本",
    "A B",
    `a-${"0".repeat(12)}`,
    "x".repeat(300),
    "x".repeat(301),
    "plain",
  ];
  const files = fileNames(names);
  expect(new Set(files.values()).size).toBe(names.length);
  for (const file of files.values()) expect(file).toMatch(/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/);
  expect(files.get("plain")).toBe("plain");
});

describe("hostile text in a claim", () => {
  /** Every text that a gateway or the author of a claim can choose. */
  const hostile = (claim: Claim): Claim => ({
    ...claim,
    gateway: { name: `../../${HOSTILE}`, version: HOSTILE, startedWith: HOSTILE, server: HOSTILE },
    contract: { [HOSTILE]: HOSTILE },
    record: { ...claim.record, sha256: "f".repeat(64) },
    run: { ...claim.run, id: HOSTILE, qualifiers: [HOSTILE] },
    reproduce: HOSTILE,
    profiles: [
      ...claim.profiles.map((profile) => ({
        ...profile,
        requirements: profile.requirements.map((one) => ({
          ...one,
          why: HOSTILE,
          checks: one.checks.map(() => HOSTILE),
        })),
      })),
      { ...(claim.profiles[0] as Claim["profiles"][number]), name: HOSTILE },
    ],
    exchanges: claim.exchanges.map((one) => ({
      ...one,
      method: HOSTILE,
      url: HOSTILE,
      outcome: HOSTILE,
      requestBody: HOSTILE,
      responseBody: HOSTILE,
      curl: HOSTILE,
    })),
  });

  test("becomes no markup, address or path", async () => {
    mkdirSync(at("hostile"));
    const path = at("hostile", "claim.json");
    writeFileSync(path, claimText(hostile(JSON.parse(readFileSync(claimFile("beta"), "utf8")))));
    const { code, stderr } = await matrix(path, ...FILES, "--out", at("hostile", "out"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(at("hostile")).sort()).toEqual(["claim.json", "out"]);
    const names = readdirSync(at("hostile", "out"));
    for (const name of names)
      expect(name).toMatch(/^(index\.html|changes\.json|matrix\.md|badge-[a-z0-9-]{1,140}\.svg)$/);
    // Each profile of each newest claim, and one more profile of the hostile claim.
    const claimed = new Set(alpha.profiles.map(({ name }) => name)).size;
    expect(names.filter((name) => name.endsWith(".svg"))).toHaveLength(4 * claimed + 1);
    for (const name of names.filter((one) => one.endsWith(".svg"))) {
      const svg = readFileSync(at("hostile", "out", name), "utf8");
      expect(await xmlProblems(svg)).toEqual([]);
      expect(svg.match(/<(?!\/)[a-z]+/g)?.every((tag) => /^<(svg|title|rect|g|text)$/.test(tag))).toBe(true);
    }
    const elements = elementsOf(readFileSync(at("hostile", "out", "index.html"), "utf8"));
    const tags = new Set(elements.map(({ tagName }) => tagName));
    for (const tag of ["script", "img", "iframe", "object", "embed", "form", "base"]) expect(tags).not.toContain(tag);
    for (const { name, value } of elements.flatMap(({ attrs }) => attrs)) {
      expect(name).not.toMatch(/^on|^style$|^src$/);
      if (name === "href") expect(value).toMatch(/^#[\w-]+$|^changes\.json$/);
      if (name === "id") expect(value).toMatch(/^[\w-]+$/);
    }
    const markdown = readFileSync(at("hostile", "out", "matrix.md"), "utf8");
    expect(markdown.trimEnd().split("\n")).toHaveLength(6);
    const markup = markdownElements(markdown).map(({ tagName }) => tagName);
    expect(markup.filter((tag) => ["a", "img", "script", "details", "svg"].includes(tag))).toEqual([]);
  });
});

describe("a claim that cannot be shown is an error, and nothing is written", () => {
  const changed = (change: (claim: Claim) => object) => () =>
    JSON.stringify(change(JSON.parse(readFileSync(claimFile("alpha-1.10"), "utf8"))));
  const withProfile = (name: string, change: (profile: Claim["profiles"][number]) => object) =>
    changed((claim) => ({
      ...claim,
      profiles: claim.profiles.map((profile) => (profile.name === name ? { ...profile, ...change(profile) } : profile)),
    }));

  test.each<[string, () => string, RegExp]>([
    ["cut off", () => claimText(alpha).slice(0, 500), /is not a claim: .*JSON/],
    ["with a wrong value", withProfile("chat", () => ({ result: "passed" })), /\/profiles\/0\/result: /],
    [
      "of another schema version",
      changed((claim) => ({ ...claim, schemaVersion: 2 })),
      /\/schemaVersion: expected 1, the file has 2/,
    ],
    ["that repeats another one", () => read("runs", "beta", "claim.json"), /repeats .*beta.*\n {2}\/record\/sha256: /],
    [
      "of a version that another claim has",
      changed((claim) => ({
        ...claim,
        gateway: { ...claim.gateway, name: "beta", version: "2" },
        run: { ...claim.run, id: "f" },
        record: { ...claim.record, sha256: "f".repeat(64) },
      })),
      /repeats .*beta.*\n {2}\/gateway: the name and version/,
    ],
    [
      "that hides a limitation",
      changed((claim) => ({ ...claim, harness: { ...claim.harness, dirty: true } })),
      /\/limitations: is empty, although \/harness\/dirty is true/,
    ],
    [
      "that is conformant despite a limitation",
      changed((claim) => ({ ...claim, limitations: ["the run ended early"] })),
      /\/profiles\/0\/result: is conformant, although \/limitations/,
    ],
    [
      "that is conformant although a MUST is violated",
      withProfile("chat", ({ requirements: [first, ...rest] }) => ({
        requirements: [{ ...first, result: "broken" }, ...rest],
      })),
      /\/profiles\/0\/result: is conformant, although \/requirements\/0 .* is broken/,
    ],
    [
      "that omits a requirement",
      withProfile("chat", ({ requirements: [, ...rest] }) => ({ requirements: rest })),
      /\/profiles\/0\/requirements: must have /,
    ],
    [
      "whose requirements nothing has met",
      withProfile("chat", ({ requirements }) => ({
        requirements: requirements.map((one) => ({ ...one, met: 0, checks: [] })),
      })),
      /\/profiles\/0\/result: is conformant, although no MUST was met by a check/,
    ],
    [
      "of another definition of a profile",
      withProfile("chat", () => ({ sha256: "0".repeat(64) })),
      /\/profiles\/0\/sha256: /,
    ],
  ])("%s", async (name, text, why) => {
    const path = at(`${name.replaceAll(/\W+/g, "-")}.json`);
    writeFileSync(path, text());
    const out = at("never");
    const { code, stderr } = await matrix(claimFile("beta"), path, "--out", out);
    expect(code).toBe(2);
    expect(stderr).toContain(path);
    expect(stderr).toMatch(why);
    expect(existsSync(out)).toBe(false);
  });

  test("every damaged file is listed", async () => {
    writeFileSync(at("no.json"), "{");
    const { code, stderr } = await matrix(at("no.json"), claimFile("beta"), at("none.json"), "--out", at("never"));
    expect(code).toBe(2);
    expect(stderr).toMatch(/no\.json is not a claim[\s\S]*none\.json cannot be read: no such file/);
  });

  test("that does not follow from its record", async () => {
    cpSync(at("runs", "beta"), at("tampered", "beta"), { recursive: true });
    const tampered = claimText({
      ...JSON.parse(readFileSync(claimFile("beta"), "utf8")),
      reproduce: "gauntlet conform",
    });
    writeFileSync(at("tampered.json"), tampered);
    const claimed = await matrix(at("tampered.json"), "--records", at("tampered"), "--out", at("never"));
    expect([claimed.code, claimed.stderr]).toEqual([
      2,
      expect.stringMatching(/does not follow from the record[\s\S]*\/reproduce: /),
    ]);
    writeFileSync(at("tampered", "beta", "run.json"), `${read("tampered", "beta", "run.json")} `);
    const record = await matrix(claimFile("beta"), "--records", at("tampered"), "--out", at("never"));
    expect([record.code, record.stderr]).toEqual([
      2,
      expect.stringMatching(/does not follow from the record[\s\S]*\/record\/sha256/),
    ]);
    expect(existsSync(at("never"))).toBe(false);
  });

  test.each<[string, string, RegExp]>([
    ["a folder that does not exist", "nowhere", /--records: there is no folder ".*nowhere"/],
    ["a folder without runs", "hollow", /--records: .*hollow holds no runs/],
  ])("--records with %s", async (_name, dir, why) => {
    mkdirSync(at("hollow"), { recursive: true });
    const { code, stderr } = await matrix(claimFile("beta"), "--records", at(dir), "--out", at("never"));
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
  });
});

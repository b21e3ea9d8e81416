import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { FORMATS, jsonDocument, renderTerminal, unblockYaml } from "../../reports/index.ts";
import { instancesOf, planOf } from "../../src/checks/index.ts";
import { parseTarget } from "../../src/target/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { elementsOf, markdownElements, textOf } from "../support/readers.ts";
import { recordOf, result } from "../support/records.ts";

/** Every variable is set: this test is not about which ones a block names. */
const ENVIRONMENT = new Proxy({} as Record<string, string>, { get: (_, name) => `value-of-${String(name)}` });

/** A target file with the block pasted over its sections of the same name. */
function pasted(file: string, block: string): string {
  return stringify({ ...parse(file), ...parse(block) });
}

const planned = (file: string) => {
  const target = parseTarget(file, "t.yaml", ENVIRONMENT);
  return planOf(CHECKS.flatMap(instancesOf), target, { canCreateKeys: false });
};

describe("the lines that unblock checks, as one document", () => {
  test.each([
    ["of the least file", "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:MY_KEY }\n"],
    [
      "of one that has some of each section",
      "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:MY_KEY, second: file:second.key.env }\nmodels: { chat: m, slow: s, tools: { chat: t } }\nlimits: { rpm: 6000, inFlight: 256 }\n",
    ],
  ])("%s: pasted as it is, it loads, keeps what was there, and unblocks them all", (_, text) => {
    const file = text.replace("file:second.key.env", "env:MY_SECOND");
    const before = planned(file);
    expect(before.suites.reduce((sum, { blocked }) => sum + blocked, 0)).toBeGreaterThan(50);
    const block = unblockYaml(
      before.unblock.map((unblock) => ({ unblock })),
      parse(file),
    );
    const after = pasted(file, block ?? "");
    expect(planned(after).suites.reduce((sum, { blocked }) => sum + blocked, 0)).toBe(0);
    const target = parseTarget(after, "t.yaml", ENVIRONMENT);
    const old = parseTarget(file, "t.yaml", ENVIRONMENT);
    for (const [name, key] of Object.entries(old.keys))
      expect(target.keys[name as "valid"]?.reveal()).toBe(key.reveal());
    expect(target.models.chat).toMatchObject(old.models.chat);
    expect(target.limited.length + Number(old.limits !== undefined)).toBe(2);
  });

  test("an existing account is not repeated: what it lacks is added to it", () => {
    const lines = (more: string) => [
      "limited:",
      `  - { key: env:GW_LIMITED, ${more}limits: { rpm: 20, inFlight: 4 } }`,
    ];
    const block = unblockYaml([{ unblock: lines("second: env:GW_LIMITED_2, ") }, { unblock: lines("") }], {
      limited: [{ limits: { inFlight: "none", rpm: 30 }, key: "env:GW_LIMITED" }],
    });
    expect(parse(block ?? "")).toEqual({
      limited: [{ key: "env:GW_LIMITED", second: "env:GW_LIMITED_2", limits: { rpm: 30, inFlight: "none" } }],
    });
  });

  test("a model of the other dialect stays, the larger budget counts, and a key is not replaced", () => {
    const block = unblockYaml(
      [
        { unblock: ["models:", "  slow: { chat: s, messages: <model id> }"] },
        { unblock: ["budget:", "  requests: 9000"] },
        { unblock: ["budget:", "  requests: 12000"] },
        { unblock: ["budget:", "  requests: 800"] },
        { unblock: ["keys:", "  cappable: env:GW_CAPPABLE # a new key"] },
      ],
      { keys: { valid: "env:K", cappable: "env:MINE" }, models: { chat: "m", slow: "s" }, budget: { requests: 50 } },
    );
    expect(parse(block ?? "")).toEqual({
      models: { chat: "m", slow: { chat: "s", messages: "<model id>" } },
      budget: { requests: 12_000 },
      keys: { valid: "env:K", cappable: "env:MINE" },
    });
    expect(block).toContain("cappable: env:MINE # a new key");
  });

  test("lines of a suite that are not YAML are comments; without any lines the block is missing", () => {
    const block = unblockYaml([{ unblock: ["keys:", "  revoked: env:R"] }, { unblock: ["ask: [the", "operator"] }], {});
    expect(parse(block ?? "")).toEqual({ keys: { revoked: "env:R" } });
    expect(block).toContain("# ask: [the\n# operator\n");
    expect(unblockYaml([{ unblock: [] }], {})).toBeUndefined();
  });
});

const RECORD = recordOf(
  [
    result("auth.revoked[chat]", "blocked", { message: "the target file has no keys.revoked" }),
    result("auth.revoked[messages]", "blocked", { message: "the target file has no keys.revoked" }),
    result("streaming.ends[chat,long]", "blocked", {
      message: "the target file has no models.stream",
      unblock: ["models:", "  stream: <model id>"],
    }),
  ],
  { configuration: { value: { baseUrl: "http://x/v1", keys: { valid: "env:K" } }, sha256: "0".repeat(64) } },
);
const MERGED = { keys: { valid: "env:K", revoked: "env:GW_REVOKED" }, models: { stream: "<model id>" } };

describe("every report ends its blocked checks in that one block", () => {
  test("terminal", () => {
    const text = renderTerminal(RECORD, { colors: pc.createColors(false), evidence: () => undefined, folder: "run" });
    const block = /they include what is already there\):\n\n((?:.*\n)*?)\n/.exec(text)?.[1];
    expect(parse(block ?? "")).toEqual(MERGED);
    expect(text.match(/GW_REVOKED/g)).toHaveLength(1);
  });

  test("markdown, HTML and the JSON document", () => {
    const source = { record: RECORD, evidence: () => undefined };
    const render = (format: "markdown" | "html") => [...FORMATS[format](source, "single").values()].join("");
    for (const elements of [markdownElements(render("markdown")), elementsOf(render("html"))]) {
      const texts = elements.filter(({ tagName }) => tagName === "pre").map(textOf);
      expect(texts.filter((text) => text.includes("GW_REVOKED")).map((text) => parse(text))).toEqual([MERGED]);
    }
    const { unblock } = jsonDocument(RECORD, "run") as { unblock: string };
    expect(parse(unblock)).toEqual(MERGED);
  });
});

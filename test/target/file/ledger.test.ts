import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/core/index.ts";
import { allKeys, parseTarget } from "../../../src/target/index.ts";

const ENV = { GW_KEY: "sk-canary-valid", LEDGER_TOKEN: "sk-canary-token", LEDGER_KEY: "sk-canary-ledger" };
const parse = (more: string) =>
  parseTarget(`baseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:GW_KEY }\n${more}`, "gauntlet.yaml", ENV);

function problemOf(more: string) {
  try {
    parse(more);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems[0];
    throw error;
  }
  throw new Error("the target was accepted");
}

const FIELDS = "fields: { time: /t, input: /i, output: /o, cost: /c }";

describe("ledger", () => {
  test("is described by its address or a command, with defaults", () => {
    expect(parse("").ledger).toBeUndefined();
    expect(parse(`ledger: { url: "http://127.0.0.1:2/l?k={key}", ${FIELDS} }`).ledger).toEqual({
      from: { kind: "http", url: "http://127.0.0.1:2/l?k={key}", token: undefined },
      key: undefined,
      keyId: undefined,
      rows: "",
      next: undefined,
      times: "iso",
      fields: { time: ["/t"], input: ["/i"], output: ["/o"], cost: ["/c"] },
      responseId: [],
      costUnitMicroUsd: 1_000_000,
      inputExcludesCache: false,
      outputExcludesReasoning: false,
      totals: {},
      prices: {},
    });
    expect(parse(`ledger: { command: ./rows.sh, ${FIELDS}, costUnit: cent }`).ledger).toMatchObject({
      from: { kind: "command", command: "./rows.sh", folder: process.cwd() },
      costUnitMicroUsd: 10_000,
    });
  });

  test("ready-made descriptions need only the address, and what the file says replaces their fields", () => {
    expect(parse("ledger: { kind: litellm, url: http://127.0.0.1:4000/ }").ledger).toMatchObject({
      from: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/spend\/logs\/v2\?api_key=\{key\}&/) },
      rows: "/data",
      times: "sql",
      responseId: ["header:x-litellm-call-id"],
      fields: { cost: ["/spend"], requestId: ["/litellm_call_id"] },
    });
    const own = "ledger: { kind: inferrail, url: http://127.0.0.1:8000, fields: { cost: /mine } }";
    expect(parse(own).ledger).toMatchObject({
      from: { url: "http://127.0.0.1:8000/v1/local/receipts?limit=500&offset={offset}" },
      fields: { cost: ["/mine"], time: ["/timestamp"] },
    });
  });

  test("prices of cached and written tokens are those of other input unless they are given", () => {
    const prices = "prices: { m: { inputPerMTok: 3, outputPerMTok: 15, cachedInputPerMTok: 0.3, perRequest: 0.001 } }";
    expect(parse(`ledger: { kind: litellm, url: http://127.0.0.1:4000, ${prices} }`).ledger?.prices).toEqual({
      m: { perRequestMicroUsd: 1_000, input: 3, cachedInput: 0.3, cacheWrite5m: 3, cacheWrite1h: 3, output: 15 },
    });
  });

  test("its token and its key are secrets like any other", () => {
    const target = parse(
      "ledger: { kind: litellm, url: http://127.0.0.1:4000, token: env:LEDGER_TOKEN, key: env:LEDGER_KEY }",
    );
    expect(allKeys(target).map((key) => key.reveal())).toEqual(
      expect.arrayContaining(["sk-canary-token", "sk-canary-ledger"]),
    );
    expect(JSON.stringify(target)).not.toContain("canary");
  });

  test.each<[what: string, text: string, problem: object]>([
    ["neither an address nor a command", `ledger: { ${FIELDS} }\n`, { line: 3, path: "ledger" }],
    [
      "both",
      `ledger:\n  url: http://127.0.0.1:2\n  command: ./l\n  ${FIELDS}\n`,
      { line: 5, path: "ledger.command", message: expect.stringContaining("cannot be combined with url") },
    ],
    [
      "no cost",
      "ledger:\n  url: http://127.0.0.1:2\n  fields: { time: /t, input: /i, output: /o }\n",
      { line: 5, path: "ledger.fields", message: expect.stringContaining("must have cost") },
    ],
    [
      "an unknown part of the address",
      `ledger:\n  url: "http://127.0.0.1:2/?from={start}"\n  ${FIELDS}\n`,
      { line: 4, path: "ledger.url", message: expect.stringContaining("{from}") },
    ],
    [
      "no location of the next page",
      `ledger:\n  url: "http://127.0.0.1:2/?after={next}"\n  ${FIELDS}\n`,
      {
        path: "ledger.next",
        message: "missing; the URL contains {next}, and this field says where to read its value.",
      },
    ],
    [
      "a field that is no pointer",
      "ledger:\n  url: http://127.0.0.1:2\n  fields: { time: t, input: /i, output: /o, cost: /c }\n",
      { line: 5, path: "ledger.fields.time" },
    ],
    [
      "an unknown field",
      "ledger: { kind: litellm, url: http://127.0.0.1:4000, fields: { price: /c } }\n",
      { path: "ledger.fields.price" },
    ],
    [
      "a literal token",
      "ledger: { kind: litellm, url: http://127.0.0.1:4000, token: sk-live-1 }\n",
      { path: "ledger.token", message: expect.stringContaining("env:NAME or file:PATH") },
    ],
    [
      "a variable that is not set",
      "ledger: { kind: litellm, url: http://127.0.0.1:4000, token: env:GW_NONE }\n",
      { path: "ledger.token", message: "environment variable GW_NONE is not set." },
    ],
    [
      "a token for a command",
      `ledger:\n  command: ./l\n  token: env:LEDGER_TOKEN\n  ${FIELDS}\n`,
      { line: 5, path: "ledger.token", message: expect.stringContaining("only to a url") },
    ],
  ])("%s is an error with its place", (_what, text, problem) => {
    expect(problemOf(text)).toMatchObject(problem);
  });
});

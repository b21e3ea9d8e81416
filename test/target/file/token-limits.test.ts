import { describe, expect, test } from "vitest";
import { accountOfKey, instancesOf, planOf, tokenLimitedFor } from "../../../src/checks/index.ts";
import { ConfigError } from "../../../src/core/index.ts";
import { allKeys, parseTarget } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";

const ENV = { GW_KEY: "sk-canary-valid", GW_LIMITED: "sk-canary-l", GW_OWN: "sk-canary-own", GW_SECOND: "sk-canary-2" };
const KEYS = "keys: { valid: env:GW_KEY, second: env:GW_SECOND }\n";
const parse = (more: string) => parseTarget(`baseUrl: http://127.0.0.1:1/v1\n${KEYS}${more}`, "gauntlet.yaml", ENV);
const LIMITED = "limited:\n  - { key: env:GW_LIMITED, limits: { rpm: 60, inFlight: 4 } }\n";

function problemOf(more: string) {
  try {
    parse(more);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems[0];
    throw error;
  }
  throw new Error("the target was accepted");
}

describe("tokenLimits", () => {
  test("has defaults; if the tokens are known at admission, nothing in flight may exceed the limit", () => {
    expect(parse("").tokenLimits).toBeUndefined();
    expect(parse("tokenLimits: { tokensPerMinute: 5000 }").tokenLimits).toEqual({
      tokensPerMinute: 5_000,
      counts: "total",
      window: undefined,
      inFlightTokens: undefined,
      key: undefined,
      remainingHeaders: [],
    });
    const whole =
      "tokenLimits: { tokensPerMinute: 9, counts: prompt, window: rolling, key: env:GW_OWN, remainingHeaders: [x-left] }";
    expect(parse(whole).tokenLimits).toMatchObject({
      counts: "prompt",
      window: "rolling",
      inFlightTokens: 0,
      remainingHeaders: ["x-left"],
    });
    expect(parse("tokenLimits: { tokensPerMinute: 9, counts: reserved, inFlightTokens: 7 }").tokenLimits).toMatchObject(
      {
        inFlightTokens: 7,
      },
    );
  });

  test("its key is a secret like any other", () => {
    const target = parse("tokenLimits: { tokensPerMinute: 9, key: env:GW_OWN }");
    expect(allKeys(target).map((key) => key.reveal())).toContain("sk-canary-own");
    expect(JSON.stringify(target)).not.toContain("canary");
  });

  test.each<[what: string, text: string, problem: object]>([
    ["no number", "tokenLimits: {}\n", { path: "tokenLimits.tokensPerMinute", message: "missing; expected a number." }],
    ["no tokens", "tokenLimits: { tokensPerMinute: 0 }\n", { line: 3, path: "tokenLimits.tokensPerMinute" }],
    [
      "an unknown way to count",
      "tokenLimits:\n  tokensPerMinute: 9\n  counts: output\n",
      { line: 5, path: "tokenLimits.counts", message: expect.stringContaining('"reserved"') },
    ],
    [
      "an unknown window",
      "tokenLimits:\n  tokensPerMinute: 9\n  window: sliding\n",
      { line: 5, path: "tokenLimits.window", message: expect.stringContaining('"rolling"') },
    ],
    [
      "an unknown field",
      "tokenLimits: { tokenPerMinute: 9, tokensPerMinute: 9 }\n",
      { path: "tokenLimits.tokenPerMinute", hint: 'Did you mean "tokensPerMinute"?' },
    ],
    [
      "a literal key",
      "tokenLimits: { tokensPerMinute: 9, key: sk-live-1 }\n",
      { path: "tokenLimits.key", message: expect.stringContaining("env:NAME or file:PATH") },
    ],
    [
      "a variable that is not set",
      "tokenLimits: { tokensPerMinute: 9, key: env:GW_NONE }\n",
      { path: "tokenLimits.key", message: "environment variable GW_NONE is not set." },
    ],
    [
      "an invalid header",
      "tokenLimits: { tokensPerMinute: 9, remainingHeaders: [two words] }\n",
      { path: "tokenLimits.remainingHeaders.0", message: expect.stringContaining("must be a header name") },
    ],
  ])("%s is an error with its path", (_what, text, problem) => {
    expect(problemOf(text)).toMatchObject(problem);
  });
});

describe("the account of the token limit", () => {
  const account = (more: string) => {
    const found = tokenLimitedFor(parse(more));
    return found && [accountOfKey(found.key), found.shared, found.limits?.rpm];
  };

  test.each<[string, string, unknown]>([
    ["none without a declaration", LIMITED, undefined],
    ["none without a key", "tokenLimits: { tokensPerMinute: 9 }\n", undefined],
    ["that of the rate checks", `${LIMITED}tokenLimits: { tokensPerMinute: 9 }\n`, ["limited.0", false, 60]],
    [
      "the account of valid, where nothing is set aside",
      "limits: { rpm: 300, inFlight: 9 }\ntokenLimits: { tokensPerMinute: 9 }\n",
      ["main", true, 300],
    ],
    ["its own", `${LIMITED}tokenLimits: { tokensPerMinute: 9, key: env:GW_OWN }\n`, ["tokenLimits", false, undefined]],
    [
      "the account that has the same key",
      `${LIMITED}tokenLimits: { tokensPerMinute: 9, key: env:GW_LIMITED }\n`,
      ["limited.0", false, 60],
    ],
    [
      "the account of valid by its second key",
      "limits: { rpm: 300, inFlight: 9 }\ntokenLimits: { tokensPerMinute: 9, key: env:GW_SECOND }\n",
      ["main", true, 300],
    ],
  ])("%s", (_name, more, expected) => {
    expect(account(more)).toEqual(expected);
  });

  const planned = (more: string) => {
    const instances = CHECKS.filter(({ id }) => id.startsWith("token-limits.")).flatMap(instancesOf);
    const plan = planOf(instances, parse(`models: { chat: m, messages: m }\n${more}`), { canCreateKeys: false });
    const [suite] = plan.suites;
    return { instances: suite?.instances, blocked: suite?.blocked, skipped: suite?.skipped, unblock: plan.unblock };
  };

  test("its checks do not apply without a declaration, are blocked without a key, and run with both", () => {
    const all = planned("");
    expect(all).toMatchObject({ blocked: 0, skipped: 6, instances: 6 });
    const withoutKey = planned("tokenLimits: { tokensPerMinute: 5000 }\n");
    expect(withoutKey).toMatchObject({
      blocked: 6,
      skipped: 0,
      unblock: [["tokenLimits:", "  key: env:GW_TOKEN_LIMITED"]],
    });
    expect(planned("tokenLimits: { tokensPerMinute: 5000, key: env:GW_OWN }\n")).toMatchObject({
      blocked: 0,
      skipped: 0,
    });
  });

  test("a limit that cannot be reached blocks them", () => {
    expect(planned("tokenLimits: { tokensPerMinute: 1000000, key: env:GW_OWN }\n")).toMatchObject({ blocked: 6 });
    const slow = LIMITED.replace("rpm: 60", "rpm: 10");
    expect(planned(`${slow}tokenLimits: { tokensPerMinute: 5000 }\n`)).toMatchObject({ blocked: 6 });
  });
});

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { buildRequest } from "../../../src/checks/declare/request-spec.ts";
import { ConfigError } from "../../../src/core/index.ts";
import { allKeys, parseTarget } from "../../../src/target/index.ts";

const FULL = `
name: staging
baseUrl: https://gw.example.test/v1
headers: { reason: X-Service-Error-Code, action: X-Service-Action, version: anthropic-version, versionValue: "2023-06-01" }
extraHeaders: { all: { x-team: a, x-secret: env:GW_EXTRA }, chat: {}, messages: {} }
contract: {}
keys:
  valid: env:GW_KEY
  second: env:GW_KEY_2
models: { chat: echo-fast, stream: echo-stream }
limits: starter
limited:
  - { key: env:GW_LIMITED, second: env:GW_LIMITED_2, limits: { rpm: 20, inFlight: 4 } }
tiers:
  starter: { key: env:GW_STARTER }
provision: { command: ./provision.sh }
skip: { key.revoked: "no way to revoke on staging" }
compat: { chat: openai, messages: none }
budget: { requests: 5000, outputTokens: 200000 }
authorized: false
`;
const ENV = {
  GW_KEY: "sk-canary-valid",
  GW_KEY_2: "sk-canary-second",
  GW_EXTRA: "canary-extra",
  GW_LIMITED: "sk-canary-l1",
  GW_LIMITED_2: "sk-canary-l2",
  GW_STARTER: "sk-canary-s",
};

function problemsOf(text: string, environment: Record<string, string> = ENV) {
  try {
    parseTarget(text, "gauntlet.yaml", environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error("the target was accepted");
}

describe("a complete target file, keys by reference (SEC-2)", () => {
  const target = parseTarget(FULL, "gauntlet.yaml", ENV);

  test("is resolved: references, tiers by name, defaults", () => {
    expect(target).toMatchObject({
      name: "staging",
      limits: { rpm: 300, inFlight: 64 },
      models: { chat: { plain: "echo-fast", stream: "echo-stream" }, messages: { stream: "echo-stream" } },
      compat: { chat: "openai", messages: "none" },
      extraHeaders: {
        all: [
          ["x-team", "a"],
          ["x-secret", "canary-extra"],
        ],
      },
    });
    expect(target.keys.valid.reveal()).toBe("sk-canary-valid");
    expect(target.limited[0]?.limits).toEqual({ rpm: 20, inFlight: 4 });
    expect(target.tiers.starter?.limits).toEqual({ rpm: 300, inFlight: 64 });
    expect(allKeys(target).map((key) => key.name)).toEqual([
      "valid",
      "second",
      "limited.0.key",
      "limited.0.second",
      "tiers.starter.key",
      "header.x-secret",
    ]);
  });

  test("keys print as their names, however they are printed", () => {
    const { extraHeaders: _, ...rest } = target;
    expect(`${JSON.stringify(rest)} ${target.keys.valid} ${inspect(target.keys.second)}`).not.toContain("canary");
  });
});

describe("an error has location, path and advice", () => {
  const minimal = (more: string) => `baseUrl: http://127.0.0.1:1/v1\nkeys:\n  valid: env:GW_KEY\n${more}`;

  test.each<[what: string, text: string, problem: object]>([
    [
      "an unknown field",
      minimal("limted: []\n"),
      { line: 4, column: 1, path: "limted", message: 'unknown field "limted".', hint: 'Did you mean "limited"?' },
    ],
    [
      "an unknown key name",
      "baseUrl: http://h/v1\nkeys:\n  valid: env:GW_KEY\n  revokd: env:X\n",
      { line: 4, column: 3, path: "keys.revokd", hint: 'Did you mean "revoked"?' },
    ],
    [
      "an unknown field inside a list",
      minimal("limited:\n  - { key: env:GW_KEY, limts: starter, limits: starter }\n"),
      { line: 5, path: "limited.0.limts", hint: 'Did you mean "limits"?' },
    ],
    [
      "a literal key",
      minimal("").replace("env:GW_KEY", "sk-live-1234"),
      { line: 3, path: "keys.valid", message: expect.stringContaining("env:NAME or file:PATH") },
    ],
    [
      "a wrong type",
      minimal("authorized: maybe\n"),
      { line: 4, path: "authorized", message: "expected true or false." },
    ],
    [
      "a wrong tier",
      minimal("limits: huge\n"),
      { line: 4, path: "limits", message: expect.stringContaining('"starter" or "growth" or "scale"') },
    ],
    ["a limit of zero", minimal("limits: { rpm: 0, inFlight: 4 }\n"), { line: 4, path: "limits.rpm" }],
    [
      "a limit that is neither a number nor none",
      minimal("limits: { rpm: 100, inFlight: many }\n"),
      { line: 4, path: "limits.inFlight", message: 'expected a number or "none".' },
    ],
    [
      "a missing field",
      "name: x\nkeys: { valid: env:GW_KEY }\n",
      { path: "baseUrl", message: "missing; expected a string." },
    ],
    [
      "one address in a list",
      "addresses: [http://h/v1]\nkeys: { valid: env:GW_KEY }\n",
      { line: 1, path: "addresses", message: expect.stringContaining("at least two addresses") },
    ],
    [
      "an address that is listed twice",
      "addresses: [http://h/v1, http://i/v1, http://H/v1/]\nkeys: { valid: env:GW_KEY }\n",
      { line: 1, path: "addresses.2", message: "is a duplicate." },
    ],
    [
      "a base address in addition to addresses",
      minimal("addresses: [http://h/v1, http://i/v1]\n"),
      { line: 1, path: "baseUrl", message: expect.stringContaining("must be omitted") },
    ],
    [
      "a choice without addresses",
      minimal("addressChoice: random\n"),
      { line: 4, path: "addressChoice", message: expect.stringContaining("requires addresses") },
    ],
    [
      "an invalid base address",
      minimal("").replace("http://127.0.0.1:1/v1", "gw.example"),
      { line: 1, path: "baseUrl" },
    ],
    [
      "an unset variable",
      minimal("").replace("GW_KEY", "GW_UNSET"),
      { line: 3, column: 3, path: "keys.valid", message: "environment variable GW_UNSET is not set." },
    ],
    [
      "a key file that is not there",
      minimal("").replace("env:GW_KEY", "file:no/such"),
      { line: 3, path: "keys.valid", message: expect.stringContaining("no such file") },
    ],
    [
      "text that is no YAML",
      "a: [1\nb: }",
      { line: expect.any(Number), message: expect.stringContaining("not valid YAML") },
    ],
    ["a field given twice", minimal("name: a\nname: b\n"), { line: 5 }],
  ])("%s", (_what, text, problem) => {
    expect(problemsOf(text)[0]).toMatchObject({ file: "gauntlet.yaml", ...problem });
  });

  test.each([
    ["a line without a colon", "name\nbaseUrl: http://h/v1\n", 1, "write `name: value`, with a space after the colon"],
    [
      "a colon without a space",
      "name:a\nbaseUrl: http://h/v1\n",
      1,
      "write `name: value`, with a space after the colon",
    ],
    ["a name without a value", "baseUrl: http://h/v1\nname\n", 2, "write `name: value`, with a space after the colon"],
    ["a tab", "keys:\n\tvalid: env:A\n", 2, "indent with spaces, not with tabs"],
    ["an open quote", "name: 'a\nbaseUrl: http://h/v1\n", 3, "a quote is not closed"],
    ["an open bracket", "dialects: [chat\nname: a\n", 2, "a { or [ before this line is not closed"],
    ["too little indentation", "keys:\n  valid: env:A\n second: env:B\n", 3, "indent this line like the other fields"],
    ["a backquote", "name: `a`\n", 1, "quote a value that begins with this character"],
    ["a backslash", 'name: "\\q"\n', 1, "use single quotes"],
    ["a second document", "name: a\n---\nname: b\n", 2, "remove the line `---`"],
    ["a list, then a field", "- a\nname: b\n", 2, "this does not belong here"],
  ])("%s is one problem, with what to write instead", (_what, text, line, message) => {
    expect(problemsOf(text)).toMatchObject([{ line, message: expect.stringContaining(message) }]);
  });

  test("wrong indentation is one problem, with what to check", () => {
    const message =
      'not valid YAML: check the indentation of this line and the next, and quote a value that contains ": ".';
    expect(problemsOf("keys:\n  valid: env:A\n   second: env:B\n")).toMatchObject([{ line: 2, message }]);
  });

  test("all problems together, and never the received value", () => {
    const problems = problemsOf(
      "baseUrl: http://h/v1\nkeys:\n  valid: sk-canary-pasted\n  second: sk-canary-too\nlimits: sk-canary-odd\n",
    );
    expect(problems.map((problem) => problem.path)).toEqual(["keys.valid", "keys.second", "limits"]);
    expect(JSON.stringify(problems)).not.toContain("canary");
  });

  test("all unset variables together", () => {
    expect(problemsOf(FULL, {}).map((problem) => problem.path)).toContain("limited.0.second");
    expect(problemsOf(FULL, {})).toHaveLength(6);
  });
});

test("a role may have a model for each dialect, and headers of an endpoint replace those of all", async () => {
  const target = parseTarget(
    `baseUrl: http://127.0.0.1:1/v1
keys: { valid: env:K }
models: { chat: a, messages: b, stream: { chat: c, messages: d }, slow: s, tools: { messages: t } }
extraHeaders: { all: { x-provider: one, x-team: t }, models: {}, messages: { X-Provider: two } }
`,
    "t.yaml",
    { K: "sk-1" },
  );
  const sent = (endpoint: "chat" | "messages" | "models", model: "stream" | "slow" | "tools") => {
    const { body, headers } = buildRequest(target, { model }, endpoint, "hi");
    return [
      body === undefined ? undefined : JSON.parse(String(body)).model,
      headers.filter(([name]) => /^x-/i.test(name)),
    ];
  };
  expect(sent("chat", "stream")).toEqual([
    "c",
    [
      ["x-provider", "one"],
      ["x-team", "t"],
    ],
  ]);
  expect(sent("messages", "stream")).toEqual([
    "d",
    [
      ["x-team", "t"],
      ["X-Provider", "two"],
    ],
  ]);
  expect(sent("messages", "slow")[0]).toBe("s");
  expect(sent("messages", "tools")[0]).toBe("t");
  expect(sent("models", "stream")).toEqual([
    undefined,
    [
      ["x-provider", "one"],
      ["x-team", "t"],
    ],
  ]);
});

test("a limit that the gateway does not have is a declared gap, unless an account is set aside for it", () => {
  const withLimits = (lines: string) =>
    parseTarget(`baseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:K }\n${lines}\n`, "t.yaml", { K: "sk-1" });
  const { limits, skip } = withLimits("limits: { rpm: 100000, inFlight: none }");
  expect(limits).toEqual({ rpm: 100_000, inFlight: Number.POSITIVE_INFINITY });
  expect(skip).toEqual({ "limited.concurrency": "the target declares limits.inFlight: none" });
  expect(withLimits("limits: { rpm: none, inFlight: none }\nskip: { limited.rate: ours }").skip).toEqual({
    "limited.concurrency": "the target declares limits.inFlight: none",
    "limited.rate": "ours",
  });
  const aside = "limited: [{ key: env:K, limits: { rpm: 20, inFlight: 4 } }]";
  expect(withLimits(`limits: { rpm: none, inFlight: none }\n${aside}`).skip).toEqual({});
  const narrow = withLimits("limited: [{ key: env:K, limits: { rpm: none, inFlight: 4 } }]");
  expect(narrow.limited[0]?.limits).toEqual({ rpm: Number.POSITIVE_INFINITY, inFlight: 4 });
  expect(narrow.skip).toEqual({ "limited.rate": "every account under limited declares limits.rpm: none" });
  const other = "limits: { rpm: 300, inFlight: 8 }\nlimited: [{ key: env:K, limits: { rpm: none, inFlight: 4 } }]";
  expect(withLimits(other).skip).toEqual({});
  expect(() => withLimits("limited: [{ key: env:K, limits: { rpm: none, inFlight: none } }]")).toThrow(
    expect.objectContaining({
      problems: [expect.objectContaining({ message: expect.stringContaining("a number for one of the limits") })],
    }),
  );
});

import { expect, test } from "vitest";
import { causesOf, type FindingFacts } from "../../src/judging/index.ts";
import type { Finding } from "../../src/record/index.ts";
import { ABSENT, broken, facts, result, value } from "../support/records.ts";

const of = (requirement: string, rest: Partial<FindingFacts>): Finding =>
  broken({ requirements: [requirement], exchanges: [], ...rest });

/** A response whose status was wrong, as several requirements see it. */
const status = (exchange: string, expected: number | "2xx", got: string, ...requirements: string[]): Finding[] =>
  requirements.map((requirement) =>
    of(requirement, {
      pointer: "status",
      expected: expected === "2xx" ? { kind: "status", range: "2xx" } : value(expected),
      observed: value(facts(got).status ?? null),
      response: facts(got),
      exchanges: [exchange],
    }),
  );

const failed = (id: string, findings: Finding[]) => result(id, "fail", { findings });

test("one deviation is one cause, whatever it was seen in and whatever it broke", () => {
  const causes = causesOf([
    failed("auth.unknown-key[chat]", status("x1", 401, "403 invalid_api_key", "AUTH-3", "STREAM-2")),
    failed("errors.denied[messages]", status("x2", 401, "403 invalid_api_key", "ERR-401-INVALID")),
    result("auth.malformed[tab]", "warn", { findings: status("x3", 401, "403 invalid_api_key", "AUTH-5") }),
  ]);
  expect(causes).toEqual([
    expect.objectContaining({
      title: "a request with an invalid key: expected 401, got 403 invalid_api_key",
      requirement: "AUTH-3",
      requirements: ["AUTH-3", "STREAM-2", "ERR-401-INVALID", "AUTH-5"],
      weight: "fail",
      checks: ["auth.unknown-key[chat]", "errors.denied[messages]", "auth.malformed[tab]"],
      exchange: "x1",
    }),
  ]);
});

test("other defects of a response with the wrong status follow from it; another response has its own cause", () => {
  const reason = (exchange: string) =>
    of("ERR-HDR-1", { pointer: "reason", expected: value("key_revoked"), observed: ABSENT, exchanges: [exchange] });
  const [first, ...others] = causesOf([
    failed("errors.key-revoked[chat]", [...status("x1", 401, "500", "ERR-401-REVOKED"), reason("x1")]),
  ]);
  expect([first?.title, others]).toEqual(["a request with a revoked key: expected 401, got 500", []]);
  expect(causesOf([failed("a", [...status("x1", 401, "500", "ERR-401-REVOKED"), reason("x2")])])).toHaveLength(2);
});

test("a value that is missing everywhere is one cause, whatever the expected value", () => {
  const missing = (reason: string) =>
    of("ERR-HDR-1", { pointer: "reason", expected: value(reason), observed: ABSENT, exchanges: [reason] });
  const reasons = ["invalid_api_key", "key_revoked", "insufficient_credits", "quota_exceeded"];
  const [cause, ...others] = causesOf(reasons.map((reason) => failed(`errors.${reason}`, [missing(reason)])));
  expect(others).toEqual([]);
  expect(cause?.checks).toHaveLength(4);
  expect(cause?.title).toBe(
    'the reason of these denials is missing: expected "invalid_api_key", "key_revoked", "insufficient_credits" and 1 more',
  );
  expect(cause?.advice).toContain("doctor --propose");
});

test("requests that are served instead of denied have one cause for each denial", () => {
  const causes = causesOf([
    failed("auth.unknown-key[chat]", status("x1", 401, "200", "AUTH-3")),
    failed("spending.exhausted[chat]", status("x2", 402, "200", "SPEND-2")),
  ]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["AUTH-3", "SPEND-2"]);
});

test("an unfounded denial is about the denial, not about what was requested", () => {
  const causes = causesOf([failed("chat.conversation[long]", status("x1", "2xx", "401 invalid_api_key", "CHAT-4"))]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["AUTH-1"]);
});

test("a list that alone is not served is about the list, however many checks needed it", () => {
  const ofList = [
    failed("models.list", status("x1", "2xx", "304", "MODELS-1")),
    failed("auth.bearer[models]", status("x2", "2xx", "304", "AUTH-1")),
    failed("spending.list-allowed[empty]", status("x3", "2xx", "304", "AUTH-1")),
  ];
  const ofAll = [...ofList, failed("chat.minimal[plain]", status("x4", "2xx", "304", "CHAT-1"))];
  const requirementOf = (results: typeof ofList) => causesOf(results).map(({ requirement }) => requirement);
  expect([requirementOf(ofList), requirementOf(ofAll)]).toEqual([["MODELS-1"], ["AUTH-1"]]);
});

test("two checks say more than many variants of one", () => {
  const variants = ["one-turn", "three-turns", "long"].map((variant) =>
    failed(`chat.conversation[${variant}]`, status(variant, "2xx", "400 invalid_request", "CHAT-4")),
  );
  const checks = ["chat.minimal", "chat.non-streaming"].map((id) =>
    failed(id, status(id, "2xx", "400 invalid_request", "CHAT-1")),
  );
  expect(causesOf([...variants, ...checks]).map(({ requirement }) => requirement)).toEqual(["CHAT-1"]);
});

test("a valid request without a reply says more than the status that it got", () => {
  const seen = { weight: "warn", response: facts("500 internal_error"), exchanges: ["x1"] } as const;
  const anyStatus = of("HTTP-SERVER-ERROR", {
    ...seen,
    pointer: "status",
    expected: { kind: "condition", text: "no 5xx caused by the request" },
    observed: value(500),
  });
  const noReply = of("COMPAT-IMAGES", {
    ...seen,
    pointer: undefined,
    expected: { kind: "reply" },
    observed: value(false),
  });
  const causes = causesOf([
    result("robustness.no-server-error", "warn", { findings: [anyStatus] }),
    result("compat.chat-images", "warn", { findings: [noReply] }),
  ]);
  expect(causes.map(({ requirement, title }) => [requirement, title])).toEqual([
    ["COMPAT-IMAGES", "expected a complete reply without an error, got 500 internal_error"],
  ]);
});

test("failures before warnings, then what explains most, then the more basic; waived results have none", () => {
  const finding = (requirement: string, weight: "fail" | "warn" = "fail") =>
    of(requirement, { weight, pointer: `/${requirement}`, expected: requirement, observed: "other" });
  const causes = causesOf([
    result("w1", "warn", { findings: [finding("HTTP-URL", "warn")] }),
    result("w2", "warn", { findings: [finding("HTTP-URL", "warn")] }),
    failed("f1", [finding("AUTH-3")]),
    failed("f2", [finding("MODELS-1")]),
    failed("f3", [finding("CHAT-2")]),
    failed("f4", [finding("CHAT-2")]),
    result("f5", "fail", { findings: [finding("MSG-1")], waived: { reason: "r", owner: "o", expires: "2026-12-01" } }),
    result("p", "pass"),
  ]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["CHAT-2", "MODELS-1", "AUTH-3", "HTTP-URL"]);
});

test("a finding of a load run names the run and what was counted, in short", () => {
  const finding = of("LIMIT-CONC-2", {
    name: "concurrency.exceeded",
    pointer: undefined,
    expected: "at most 64 requests in flight",
    observed: "65; 65 of 68 at once were admitted",
  });
  const causes = causesOf([failed("load.starter.at-concurrency-limit", [finding])]);
  expect(causes.map(({ title }) => title)).toEqual(["starter: expected at most 64 requests in flight, got 65"]);
});

test("what else is wrong with a response that is not well-framed, in any check, follows from its framing", () => {
  const framing = of("HTTP-FRAMING", {
    pointer: undefined,
    expected: value(0),
    observed: value(2),
    exchanges: ["x1", "x2", "x3"],
  });
  const text = of("CHAT-2", { pointer: "/choices", observed: ABSENT, exchanges: ["x2"] });
  const inOtherCheck = of("CHAT-2", { pointer: "/choices", observed: value(7), exchanges: ["x9"] });
  const causes = causesOf([
    failed("robustness.framing", [framing]),
    failed("chat.minimal", [text]),
    failed("chat.conversation", [inOtherCheck]),
  ]);
  expect(causes.map(({ requirement, checks }) => [requirement, checks])).toEqual([
    ["HTTP-FRAMING", ["robustness.framing", "chat.minimal"]],
    ["CHAT-2", ["chat.conversation"]],
  ]);
});

test("JSON without a reply is about its shape in one dialect, and about success in both", () => {
  const lacks = (exchange: string) =>
    of("ERR-200-1", {
      pointer: undefined,
      expected: { kind: "condition", text: "a list" },
      observed: ABSENT,
      exchanges: [exchange],
    });
  const shape = (requirement: string, exchange: string) =>
    of(requirement, {
      pointer: "/choices",
      expected: { kind: "condition", text: "an array" },
      observed: ABSENT,
      exchanges: [exchange],
    });
  const chat = failed("chat.minimal", [shape("CHAT-2", "x1")]);
  const found = (results: ReturnType<typeof failed>[]) => causesOf(results).map(({ requirement }) => requirement);
  expect(found([chat, failed("errors.success", [lacks("x1"), lacks("x2")])])).toEqual(["CHAT-2"]);
  const messages = failed("messages.minimal", [shape("MSG-2", "x3")]);
  expect(found([chat, messages, failed("errors.success", ["x1", "x2", "x3"].map(lacks))])).toEqual(["ERR-200-1"]);
});

test("of warnings, one of the specification comes first", () => {
  const warned = (id: string, requirement: string, exchange: string) =>
    result(id, "warn", {
      findings: [{ ...of(requirement, { pointer: `/${requirement}`, exchanges: [exchange] }), weight: "warn" }],
    });
  const causes = causesOf([
    warned("compat.usage[a]", "COMPAT-USAGE", "x1"),
    warned("compat.usage[b]", "COMPAT-USAGE", "x2"),
    warned("messages.count", "MSG-6", "x3"),
  ]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["MSG-6", "COMPAT-USAGE"]);
});

test("a requirement that most badly framed responses break says more than their framing", () => {
  const framing = of("HTTP-FRAMING", {
    pointer: undefined,
    expected: value(0),
    observed: value(2),
    exchanges: ["x1", "x2"],
  });
  const head = of("HTTP-HEAD", { pointer: undefined, observed: "2 bytes", exchanges: ["x1"] });
  const other = of("HTTP-HEAD", { pointer: undefined, observed: "2 bytes", exchanges: ["x2"] });
  const causes = causesOf([failed("robustness.framing", [framing]), failed("robustness.head", [head, other])]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["HTTP-HEAD"]);
});

test("one request beyond a limit that is served is one cause, and which limit it was says more than whose", () => {
  const served = (requirement: string, exchange: string) =>
    of(requirement, { pointer: undefined, expected: value(false), observed: value(true), exchanges: [exchange] });
  const causes = causesOf([
    failed("limits.shared-by-kinds", [served("LIMIT-1", "x1"), served("LIMIT-CONC-2", "x1")]),
    failed("limits.other", [served("LIMIT-1", "x2")]),
  ]);
  expect(causes.map(({ requirement, checks }) => [requirement, checks.length])).toEqual([["LIMIT-CONC-2", 2]]);
});

test("a gateway that stopped is the first cause, however many others there are", () => {
  const causes = causesOf([
    failed("a", [of("AUTH-3", { pointer: "/x", observed: "other" })]),
    failed("b", [of("AUTH-3", { pointer: "/x", observed: "other" })]),
    failed("robustness.keeps-responding", [of("KEEPS-RESPONDING", { pointer: undefined, observed: value(true) })]),
  ]);
  expect(causes.map(({ requirement }) => requirement)).toEqual(["KEEPS-RESPONDING", "AUTH-3"]);
});

test("the title of a wrong status names the request, and a success that was expected is that of a valid one", () => {
  const titles = (overrides: Parameters<typeof broken>[0]) =>
    causesOf([result("auth.one[chat]", "fail", { findings: [broken({ response: facts("200"), ...overrides })] })]).map(
      ({ title }) => title,
    );
  const success = { kind: "status", range: "2xx" } as const;
  expect(titles({ requirements: ["AUTH-4"] })).toEqual(["a request with a revoked key: expected 401, got 200"]);
  expect(titles({ requirements: ["SPEND-7"] })).toEqual(["a request that must be rejected: expected 401, got 200"]);
  expect(titles({ requirements: ["SPEND-2"], expected: success, response: facts("402") })).toEqual([
    "a valid request: expected 2xx, got 402",
  ]);
});

import { expect, test } from "vitest";
import {
  adviceFor,
  causeTitle,
  describeBroken,
  describeExitCode,
  describeExpected,
  describeFinding,
  describeHistory,
  describeLoadResult,
  describeObserved,
  describeOpen,
  describePass,
  describeResponse,
  describeSilence,
  describeUndecided,
  type HistoryFacts,
  historyWord,
} from "../../reports/text/index.ts";
import { finding } from "../../src/judging/index.ts";
import type { Expected, Finding, Observed, ResponseFacts, UndecidedReason } from "../../src/record/index.ts";
import { ABSENT, value } from "../support/records.ts";

const EXPECTED: readonly Expected[] = [
  value(401),
  value("key_revoked"),
  { kind: "one-of", values: [400, 422] },
  ABSENT,
  { kind: "status", range: "2xx" },
  { kind: "status", range: "anything but 2xx" },
  { kind: "reply" },
  { kind: "at-least", bound: 3 },
  { kind: "at-most", bound: 64 },
  { kind: "condition", text: "a non-empty string" },
];
const OBSERVED: readonly Observed[] = [
  ABSENT,
  value(403),
  value({ type: "error" }),
  { kind: "excerpt", text: '"Once upon a', characters: 4_096 },
  { kind: "facts", text: "3 of 40 denied" },
];
const RESPONSES: readonly ResponseFacts[] = [
  { status: 200 },
  { status: 429, reason: "rate_limit_exceeded" },
  { status: 403, reason: "forbidden", readAs: "key_revoked" },
  { status: 403, reason: "blocked", readAs: null },
  { ending: { kind: "deadline" } },
  { ending: { kind: "reset", detail: "ECONNRESET" } },
  { status: 200, ending: { kind: "reset" } },
  { status: 200, isRefusedLate: true },
];
const UNDECIDED: readonly UndecidedReason[] = [
  { kind: "missing-preconditions", missing: [{ name: "key.revoked" }, { name: "key.empty" }, { name: "model.echo" }] },
  { kind: "missing-preconditions", missing: [{ name: "key.capped", why: "it is served" }, { name: "limited.rate" }] },
  { kind: "missing-preconditions", missing: [{ name: "model.plain" }] },
  { kind: "declared-gap", about: "key.revoked", why: "no way to revoke on staging" },
  { kind: "precondition-not-met", text: "the unknown model is denied" },
  { kind: "control-not-served", what: "the same request with nothing wrong", response: { status: 503 } },
  { kind: "gateway-stopped", after: "x00084" },
  { kind: "outage", text: "`ok` was served until x00123 and responded with 404 afterwards" },
  { kind: "over-budget", needs: "50 requests" },
  { kind: "not-reached" },
  { kind: "nothing-to-judge" },
  { kind: "no-response", how: "reset" },
  { kind: "size-bound", detail: "4 MiB" },
  { kind: "generator-late", lagMs: 812, boundMs: 500 },
  { kind: "open", text: "the account was admitted again during this test" },
];
const broken = (facts: Partial<Parameters<typeof finding>[0]>): Finding =>
  finding({ requirements: ["AUTH-3"], met: false, exchanges: ["x1"], ...facts });
const status = (response: ResponseFacts, expected: Expected = value(401)): Finding =>
  broken({ pointer: "status", expected, observed: value(response.status ?? null), response });
const BROKEN: Readonly<Record<string, Finding>> = {
  "malformed HTTP": status({ ending: { kind: "protocol-error", detail: "space before the colon (RFC 9112, 5.1)" } }),
  "no response": status({ ending: { kind: "deadline" } }),
  "incomplete response": status({ status: 200, ending: { kind: "reset" } }, { kind: "status", range: "2xx" }),
  "refused late": status({ status: 200, isRefusedLate: true }),
  "served instead of denied": status({ status: 200 }),
  "served with another status than expected": status({ status: 200 }, value(201)),
  "denied instead of served": status({ status: 401, reason: "invalid_api_key" }, { kind: "status", range: "2xx" }),
  "another status": status({ status: 403, reason: "forbidden" }),
  "path not found": status({ status: 404 }, { kind: "status", range: "2xx" }),
  "no reason": broken({
    pointer: "reason",
    expected: value("key_revoked"),
    observed: ABSENT,
    response: { status: 401 },
  }),
  "another reason": broken({ pointer: "reason", expected: value("key_revoked"), observed: value("unauthorized") }),
  "no header": broken({ pointer: "Retry-After", expected: { kind: "condition", text: "present" }, observed: ABSENT }),
  "another field": broken({ pointer: "/choices/0/finish_reason", expected: value("stop"), observed: value(7) }),
  "no field": broken({ pointer: "/usage", expected: { kind: "condition", text: "an object" }, observed: ABSENT }),
  "a count": broken({
    requirements: ["LIMIT-RATE-1"],
    subject: "requests admitted within a minute",
    expected: { kind: "at-most", bound: 300 },
    observed: value(412),
  }),
  "a claim": broken({ subject: "the key is in the response", expected: value(false), observed: value(true) }),
  "a named comparison": broken({
    name: "concurrency.exceeded",
    requirements: ["LIMIT-CONC-2"],
    expected: "at most 64 requests in flight",
    observed: "65; 65 of 68 were admitted",
  }),
};

const LOAD = {
  name: "chat",
  phases: 1,
  passed: 1,
  admittedPerS: 37.08,
  isSteady: true,
  denied: 0,
  failed: 0,
  invalid: 0,
  thresholds: 0,
};
const WAITS = { tested: 60, sufficient: 60 };
const HISTORY = {
  ...{ verdict: "pass", metrics: 12, undecided: 0, regressed: [], vanished: 0, lost: 0, notImported: 0 },
  ...{ runs: 20, longest: 20, shortest: 20, needed: 8 },
} as const satisfies HistoryFacts;
const HISTORIES: readonly HistoryFacts[] = [
  HISTORY,
  { ...HISTORY, undecided: 3 },
  { ...HISTORY, verdict: "fail", regressed: ["ttft_ms p95"] },
  { ...HISTORY, verdict: "fail", regressed: ["ttft_ms p95", "ttft_ms p99"], vanished: 1 },
  { ...HISTORY, verdict: "inconclusive", lost: 2, notImported: 1, undecided: 3 },
  { ...HISTORY, verdict: "inconclusive", undecided: 12, longest: 2, shortest: 2 },
  { ...HISTORY, verdict: "inconclusive", undecided: 12, longest: 3, shortest: 2 },
  { ...HISTORY, verdict: "inconclusive", metrics: 0, runs: 4, longest: 0, shortest: 0 },
];

/** All sentences on one page, so that they can be read and edited together. `npx vitest -u` writes it again. */
test("sentences of the reports", async () => {
  const section = (title: string, lines: readonly string[]) => [
    `## ${title}`,
    "",
    ...lines.map((line) => `- ${line}`),
    "",
  ];
  const met = finding({ requirements: ["CHAT-1"], met: true });
  const open = finding({ requirements: ["HTTP-HEAD"], undecided: { kind: "no-response", how: "reset" } });
  const page = [
    "# Sentences of the reports",
    "",
    ...section("What was expected", EXPECTED.map(describeExpected)),
    ...section("What was observed", OBSERVED.map(describeObserved)),
    ...section("Responses in short", RESPONSES.map(describeResponse)),
    ...section("Why nothing could be decided", UNDECIDED.map(describeUndecided)),
    ...section("Results of a check", [
      describeBroken(status({ status: 403 }), [status({ status: 403 }), status({ status: 500 })]),
      describeOpen([open]),
      describePass([met]),
      describePass([met, met]),
      describeSilence([finding({ requirements: ["STREAM-5"], observed: value("data: [DONE]") })]),
    ]),
    ...section("Loads that passed", [
      describeLoadResult({ ...LOAD, thresholds: 2, waits: undefined }),
      describeLoadResult({ ...LOAD, isSteady: false, waits: undefined }),
      describeLoadResult({ ...LOAD, name: "starter", phases: 6, passed: 6, denied: 1_622, waits: WAITS }),
      describeLoadResult({ ...LOAD, name: "starter", phases: 6, passed: 5, waits: { ...WAITS, tested: 0 } }),
    ]),
    ...section(
      "Histories",
      HISTORIES.map((facts) => `${historyWord(facts)}: ${describeHistory(facts)}`),
    ),
    ...section(
      "Exit codes",
      [0, 1, 2, 3, 4, 5, 130, 143].map((code) => describeExitCode(code)),
    ),
    "## Deviations, their causes and advice",
    "",
    ...Object.entries(BROKEN).flatMap(([what, worst]) => {
      const isAboutPath = worst.response?.status === 404;
      const facts = { worst, findings: [worst], checks: 2, loadRuns: undefined, isAboutPath };
      return [
        `- ${what}`,
        `  - finding: ${describeFinding(worst)}`,
        `  - cause: ${causeTitle(facts)}`,
        `  - advice: ${adviceFor(facts)}`,
      ];
    }),
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot("sentences.md");
});

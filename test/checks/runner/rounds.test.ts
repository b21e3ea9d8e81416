import { expect, test } from "vitest";
import { mergeRounds } from "../../../src/checks/index.ts";
import type { CheckResult, Status } from "../../../src/record/index.ts";

const round = (status: Status): CheckResult => ({
  id: "auth.bearer",
  check: "auth.bearer",
  suite: "auth",
  title: "t",
  layer: "specification",
  axes: {},
  status,
  requirements: [],
  violated: [],
  message: status,
  findings: [],
  attestations: [],
  unblock: [],
  exchanges: [],
  durationMs: 2,
});

test.each<[rounds: Status[], status: Status, message: string]>([
  [["pass"], "pass", "pass"],
  [["pass", "pass"], "pass", "pass"],
  [["fail", "fail"], "fail", "2 of 2 times: fail"],
  [["pass", "fail", "pass"], "flaky", "1 of 3 times: fail"],
  [["fail", "warn"], "flaky", "1 of 2 times: fail"],
  [["warn", "pass"], "warn", "1 of 2 times: warn"],
  [["fail", "inconclusive"], "fail", "1 of 1 times: fail"],
  [["pass", "blocked"], "pass", "pass"],
  [["blocked", "inconclusive"], "blocked", "blocked"],
  [["pass", "harness-error", "fail"], "harness-error", "harness-error"],
  [["observed", "pass"], "pass", "pass"],
  [["not-applicable", "not-applicable"], "not-applicable", "not-applicable"],
])("%j is %s", (rounds, status, message) => {
  const merged = mergeRounds(rounds.map(round));
  expect(merged).toMatchObject({ status, message, durationMs: 2 * rounds.length });
  expect(merged.rounds?.map((one) => one.status)).toEqual(rounds.length === 1 ? undefined : rounds);
});

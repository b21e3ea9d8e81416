import type { Response } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { aString, filledString, that, type Verdict } from "../../../src/judging/index.ts";
import { type Denial, denial, type Reason, type RequirementId } from "../../../src/requirements/index.ts";

/** The requirement for this target: the text of the specification, or the target's contract. */
export type ExpectedDenial = {
  readonly reason: Reason;
  readonly status: number;
  /** The reason that this gateway's denial is mapped to. */
  readonly readAs: string;
  readonly actionHint: boolean;
};

/** The requirements that `judgeDenial` checks for a reason. */
export function denialRequirements(reason: Reason): readonly RequirementId[] {
  const { requirement, status } = denial(reason);
  return [
    requirement,
    "ERR-HDR-1",
    reason === "quota_exceeded" ? "ERR-HDR-2" : "ERR-HDR-3",
    "ERR-HDR-4",
    ...(status === 402 ? (["ERR-BODY-1", "ERR-BODY-6"] as const) : (["ERR-BODY-2"] as const)),
    "ERR-BODY-3",
    "STREAM-2",
    "STREAM-3",
  ];
}

/** Longest text that is still a "short action hint". */
const SHORT_HINT = 100;

const shortHint = that(`a short text (up to ${SHORT_HINT} characters)`, (value) =>
  typeof value === "string" ? value.trim() !== "" && value.length <= SHORT_HINT : false,
);

/** The field is present: null means that the error has no code, which differs from omitting the field. */
const given = that("present", (value) => value !== undefined);

/** Judges one denied response: status, reason, action hint, body, and that it ends. */
export function judgeDenial(verdict: Verdict, denied: Response, expected: ExpectedDenial): void {
  const entry = denial(expected.reason);
  const seen = { in: denied };
  const streamed = denied.requested.mode === "streaming" && denied.requested.endpoint !== "models";
  verdict.must(entry.requirement, denied.status, expected.status, { ...seen, at: "status" });
  if (streamed) verdict.must("STREAM-2", denied.status, expected.status, { ...seen, at: "status" });
  // A wrong status is one defect; the other properties of such a response say nothing about the requirement.
  if (denied.status !== expected.status) return;
  verdict.must(entry.requirement, denied.reason, expected.readAs, { ...seen, at: "reason" });
  verdict.must("ERR-HDR-1", denied.reason, expected.readAs, { ...seen, at: "reason" });
  if (streamed) verdict.must("STREAM-2", denied.reason, expected.readAs, { ...seen, at: "reason" });
  judgeAction(verdict, denied, entry, expected.actionHint);
  judgeBody(verdict, denied, entry);
  verdict.should("STREAM-3", denied.exchange.ending.kind, "complete", { ...seen, at: "ending" });
}

function judgeAction(verdict: Verdict, denied: Response, entry: Denial, hasAction: boolean): void {
  const { action } = denied;
  if (action !== undefined) verdict.observe("ERR-HDR-4", `${entry.reason}: ${action}`, { in: denied, at: "action" });
  if (!hasAction) return;
  // Only the denial in the specification's example certainly carries the hint (7.P3, 7.E).
  if (entry.reason === "quota_exceeded") verdict.must("ERR-HDR-2", action, shortHint, { in: denied, at: "action" });
  else verdict.should("ERR-HDR-3", action, shortHint, { in: denied, at: "action" });
}

function judgeBody(verdict: Verdict, denied: Response, entry: Denial): void {
  if (denied.requested.endpoint === "messages") {
    const { envelope, message, type, code } = denied.error;
    verdict.observe("ERR-BODY-3", { envelope, message, type, code }, { in: denied });
    return;
  }
  // The shape is required here, so fields in other places do not count.
  const error = member(denied.json, "error");
  const [message, type, code] = ["message", "type", "code"].map((name) => member(error, name));
  if (entry.status !== 402) {
    verdict.should("ERR-BODY-2", message, filledString, { in: denied, at: "/error/message" });
    verdict.should("ERR-BODY-2", type, filledString, { in: denied, at: "/error/type" });
    verdict.should("ERR-BODY-2", code, given, { in: denied, at: "/error/code" });
    return;
  }
  // The specification shows the body of a 402. Its message is text for people, so an empty string does not count as one.
  verdict.must("ERR-BODY-1", message, filledString, { in: denied, at: "/error/message" });
  const isText = verdict.must("ERR-BODY-1", type, aString, { in: denied, at: "/error/type" });
  if (isText) verdict.should("ERR-BODY-6", type, filledString, { in: denied, at: "/error/type" });
  const isGiven = verdict.must("ERR-BODY-1", code, given, { in: denied, at: "/error/code" });
  if (isGiven) verdict.should("ERR-BODY-6", code, aNumber, { in: denied, at: "/error/code" });
}

const aNumber = that("a number, as in the example of the specification", (value) => typeof value === "number");

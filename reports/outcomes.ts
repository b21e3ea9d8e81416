import type { CheckResult, Finding, Gate, RunRecord, Status } from "../src/record/index.ts";
import { requirementWithLevel } from "./level.ts";
import { describeFinding } from "./text/index.ts";

/** One line of any list-like report: a check or a gate. */
export interface Outcome {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  readonly status: Status;
  readonly message: string;
  /** Details such as expected and observed, one per line. */
  readonly detail: readonly string[];
  readonly requirements: readonly string[];
  /** Requirements that were violated. */
  readonly violated: readonly string[];
  readonly layer: string;
  readonly durationMs: number;
  /** Where a custom suite threw the error, or else where the check is declared: `file:line:column`, or only the file. */
  readonly place?: string | undefined;
  /** A known failure that the gateway's team has accepted, until when and why. It does not affect the verdict. */
  readonly waived?: string | undefined;
  /** Why it does not affect the verdict although it is not waived: no chosen profile requires it. */
  readonly notRequired?: string | undefined;
}

/** All checks and gates, in the order of the record. The verdict of the run itself is not included. */
export function outcomesOf(record: RunRecord): Outcome[] {
  const notDeciding = new Set(record.notDeciding);
  return [
    ...record.checks.map((check) => ofCheck(record, check, notDeciding.has(check.id))),
    ...(record.policy?.gates ?? []).map(ofGate),
  ];
}

/** The id of a gate in lists of outcomes. */
export const gateId = (gate: string): string => `policy: ${gate}`;

/** A gate that only warns is not a failure; an undecided one stays undecided. */
function ofGate({ gate, level, outcome, message }: Gate): Outcome {
  const missed = level === "error" ? "fail" : "warn";
  const status: Status =
    outcome === "off"
      ? "not-applicable"
      : outcome === "fail"
        ? missed
        : outcome === "inconclusive" && level === "warn"
          ? "warn"
          : outcome;
  return {
    id: gateId(gate),
    suite: "policy",
    title: `Gate: ${gate}`,
    status,
    message,
    detail: [],
    requirements: [],
    violated: [],
    layer: "policy",
    durationMs: 0,
  };
}

function ofCheck(record: RunRecord, check: CheckResult, isNotRequired: boolean): Outcome {
  return {
    id: check.id,
    suite: check.suite,
    title: check.title,
    status: check.status,
    message: check.message,
    // The same observation in ten responses is listed once.
    detail: [
      ...new Set(
        check.findings.filter(({ outcome }) => outcome === "broken").map((finding) => describe(record, finding)),
      ),
      ...(check.undecided === undefined ? [] : [`not decided: ${check.undecided}`]),
    ],
    requirements: check.requirements,
    violated: check.violated,
    layer: check.layer,
    durationMs: check.durationMs,
    place: check.reason?.kind === "suite-error" ? check.reason.place : undefined,
    waived: check.waived && `waived until ${check.waived.expires} by ${check.waived.owner}: ${check.waived.reason}`,
    ...(isNotRequired && check.waived === undefined ? { notRequired: "no chosen profile requires it" } : {}),
  };
}

function describe(record: RunRecord, finding: Finding): string {
  return `${requirementWithLevel(record, finding)}: ${describeFinding(finding)}`;
}

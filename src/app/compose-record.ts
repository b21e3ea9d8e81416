import type { WaiverBreach } from "../checks/index.ts";
import type { Redactor } from "../http-recorder/index.ts";
import { causesOf } from "../judging/index.ts";
import { decide } from "../policy/index.ts";
import {
  type CheckResult,
  countStatuses,
  figuresOfLoad,
  type JudgedLoad,
  type RunRecord,
  type Waiver,
} from "../record/index.ts";
import { REQUIREMENTS } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import { type RecordHead, recordHead, targetQualifiers } from "./record-head.ts";

interface Facts {
  readonly command: string;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  /** What was found under load among them. */
  readonly results: readonly CheckResult[];
  readonly load?: JudgedLoad | undefined;
  readonly requests: number;
  readonly outputTokens?: number;
  readonly build?: string | undefined;
  readonly interruptedBy: "SIGINT" | "SIGTERM" | undefined;
  /** Why the run ended before its end, other than by a signal. */
  readonly cutOff?: string | undefined;
  readonly redactor: Redactor;
  readonly waivers?: readonly Waiver[];
  readonly breaches?: readonly WaiverBreach[];
  readonly unscored?: readonly string[];
  /** Default 1. */
  readonly rounds?: number;
  /** Ids of the check instances that were not selected. */
  readonly notSelected?: readonly string[];
  readonly leftovers?: readonly string[];
  /** Only requirements that bind this side stand in the record. Default: all. */
  readonly binds?: "client";
  /** Further qualifiers of the verdict. */
  readonly qualifiers?: readonly string[];
}

/** Puts a run into its record: the product of which every report is a rendering. */
export function composeRecord(facts: Facts): RunRecord {
  const { startedAt, build } = facts;
  const head = recordHead(facts);
  return composeFrom({
    ...facts,
    head: { ...head, target: { ...head.target, ...(build === undefined ? {} : { build }) } },
    qualifiers: qualifiersOf(facts),
    // By the monotonic clock: a wall clock that is set back would make a run of negative length.
    durationMs: Math.round(performance.now() - (startedAt.getTime() - performance.timeOrigin)),
  });
}

interface FactsFrom extends Omit<Facts, "command" | "target" | "seed" | "startedAt" | "build"> {
  readonly head: RecordHead;
  readonly durationMs: number;
}

/** The same of a run that was begun elsewhere: its head and all qualifiers of its verdict are known. */
export function composeFrom(facts: FactsFrom): RunRecord {
  const { head, durationMs, results, qualifiers = [] } = facts;
  const { waivers = [], breaches = [], unscored = [], rounds = 1, leftovers = [] } = facts;
  const record: RunRecord = {
    ...head,
    endedAt: new Date(Date.parse(head.startedAt) + durationMs).toISOString(),
    durationMs,
    complete: facts.interruptedBy === undefined && facts.cutOff === undefined,
    verdict: decide(results, {
      targetName: head.target.name,
      baseUrl: facts.binds === "client" ? undefined : head.target.baseUrl,
      qualifiers,
      breaches: breaches.map(({ kind, check, text }) => ({ text: `waiver ${kind}: ${text}`, check })),
      interruptedBy: facts.interruptedBy,
      cutOff: facts.cutOff,
    }),
    counts: countStatuses(results.map(({ status }) => status)),
    requirements: REQUIREMENTS.filter(({ binds }) => facts.binds === undefined || facts.binds === binds).map(
      (requirement) => ({ ...requirement }),
    ),
    ...(unscored.length === 0 ? {} : { unscored: [...unscored] }),
    checks: [...results],
    ...(facts.notSelected === undefined ? {} : { notSelected: [...facts.notSelected] }),
    causes: causesOf(results),
    ...(waivers.length === 0 ? {} : { waivers: [...waivers] }),
    ...(rounds === 1 ? {} : { rounds }),
    ...(leftovers.length === 0 ? {} : { leftovers: [...leftovers] }),
    traffic: {
      requests: facts.requests,
      ...(facts.outputTokens === undefined ? {} : { outputTokens: facts.outputTokens }),
      note:
        facts.binds === "client"
          ? "These are requests of the client, at gateways that followed a script."
          : "Attempts that were refused or lost in the network may be missing from the gateway's history.",
    },
    ...(facts.load === undefined ? {} : { load: figuresOfLoad(facts.load) }),
  };
  // Answers were redacted one by one; what is left is text of ours and of the operator, such as a path or a name.
  return facts.redactor.redactValue(record);
}

/** What the first line of a verdict must not hide. */
function qualifiersOf({ target, results, unscored = [], rounds = 1, qualifiers = [] }: Facts): string[] {
  const waived = results.filter((result) => result.waived !== undefined).length;
  return [
    ...targetQualifiers(target),
    ...(waived === 0 ? [] : [`${waived} failure${waived === 1 ? "" : "s"} waived`]),
    ...(unscored.length === 0
      ? []
      : [`requirement set ${target.requirementSet}, ${unscored.length} newer requirements not yet scored`]),
    ...(rounds === 1 ? [] : [`${rounds} rounds`]),
    ...qualifiers,
  ];
}

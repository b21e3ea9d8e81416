import type { WaiverBreach } from "../../checks/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import { causesOf } from "../../judging/index.ts";
import { decideWithProfiles, type ProfileContext } from "../../policy/index.ts";
import {
  type CheckResult,
  countStatuses,
  figuresOfLoad,
  type JudgedLoad,
  type RunRecord,
  type Waiver,
} from "../../record/index.ts";
import { type CustomRequirement, REQUIREMENTS } from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";
import { type RecordHead, recordHead, targetQualifiers } from "../journal/index.ts";

interface Facts {
  readonly command: string;
  readonly arguments?: readonly string[] | undefined;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  /** Includes load findings. */
  readonly results: readonly CheckResult[];
  readonly load?: JudgedLoad | undefined;
  readonly requests: number;
  readonly outputTokens?: number;
  readonly build?: string | undefined;
  readonly interruptedBy: "SIGINT" | "SIGTERM" | undefined;
  /** Why the run ended early, other than by a signal. */
  readonly cutOff?: string | undefined;
  readonly claimed?: RunRecord["claimed"];
  readonly redactor: Redactor;
  readonly waivers?: readonly Waiver[];
  readonly breaches?: readonly WaiverBreach[];
  readonly unscored?: readonly string[];
  /** Default 1. */
  readonly rounds?: number;
  /** Ids of the check instances that were not selected. */
  readonly notSelected?: readonly string[];
  readonly leftovers?: readonly string[];
  /** Every built-in check instance; needed for profiles. */
  readonly instances?: ProfileContext["instances"] | undefined;
  /** The record only includes requirements that bind this side. Default: all. */
  readonly binds?: "client";
  /** Requirements of the custom suites in use. */
  readonly customRequirements?: readonly CustomRequirement[];
  /** Further qualifiers of the verdict. */
  readonly qualifiers?: readonly string[];
}

/** Composes the record of a run, from which every report is rendered. */
export function composeRecord(facts: Facts): RunRecord {
  const { startedAt, build } = facts;
  const head = recordHead(facts);
  return composeFrom({
    ...facts,
    head: { ...head, target: { ...head.target, ...(build === undefined ? {} : { build }) } },
    qualifiers: qualifiersOf(facts),
    // By the monotonic clock: if the wall clock is set back, the duration would be negative.
    durationMs: Math.round(performance.now() - (startedAt.getTime() - performance.timeOrigin)),
  });
}

interface FactsFrom extends Omit<Facts, "command" | "target" | "seed" | "startedAt" | "build"> {
  readonly head: RecordHead;
  readonly durationMs: number;
}

/** The same for a run that another process started: its head and all qualifiers of its verdict are known. */
export function composeFrom(facts: FactsFrom): RunRecord {
  const { head, durationMs, results, qualifiers = [] } = facts;
  const { waivers = [], breaches = [], unscored = [], rounds = 1, leftovers = [] } = facts;
  const context = head.claimed && facts.instances && { ...head.claimed, instances: facts.instances };
  const { verdict, profiles, notDeciding } = decideWithProfiles(results, context, {
    targetName: head.target.name,
    baseUrl: facts.binds === "client" ? undefined : head.target.baseUrl,
    qualifiers,
    breaches: breaches.map(({ kind, check, text }) => ({ text: `waiver ${kind}: ${text}`, check })),
    interruptedBy: facts.interruptedBy,
    cutOff: facts.cutOff,
  });
  const record: RunRecord = {
    ...head,
    endedAt: new Date(Date.parse(head.startedAt) + durationMs).toISOString(),
    durationMs,
    complete: facts.interruptedBy === undefined && facts.cutOff === undefined,
    ...(profiles === undefined ? {} : { profiles }),
    ...(notDeciding === undefined ? {} : { notDeciding }),
    verdict,
    counts: countStatuses(results.map(({ status }) => status)),
    requirements: [...REQUIREMENTS, ...(facts.customRequirements ?? [])]
      .filter(({ binds }) => facts.binds === undefined || facts.binds === binds)
      .map((requirement) => ({ ...requirement })),
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
          ? "The client sent these requests to scripted gateways."
          : "Requests that were refused or lost in the network may be missing from the gateway's own logs.",
    },
    ...(facts.load === undefined ? {} : { load: figuresOfLoad(facts.load) }),
  };
  // Responses are already redacted; the rest is our own and the operator's text, such as paths and names.
  return facts.redactor.redactValue(record);
}

/** What the headline of a verdict must not hide. */
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

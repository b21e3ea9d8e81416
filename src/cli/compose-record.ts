import { createHash } from "node:crypto";
import { cpus, totalmem } from "node:os";
import type { Redactor } from "../client/index.ts";
import { contractInWords, readingRules, type WaiverBreach } from "../conformance/index.ts";
import { decide } from "../policy/index.ts";
import {
  type CheckResult,
  countStatuses,
  type LoadSection,
  RECORD_VERSION,
  type RunRecord,
  type Waiver,
} from "../record/index.ts";
import { LEDGER } from "../spec/index.ts";
import type { Target } from "../target/index.ts";
import { NAME, VERSION } from "./version.ts";
import { requirementSet } from "./version-document.ts";

interface Facts {
  readonly command: string;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  readonly results: readonly CheckResult[];
  readonly load?: LoadSection | undefined;
  readonly requests: number;
  readonly outputTokens?: number;
  readonly build: string | undefined;
  readonly interruptedBy: "SIGINT" | "SIGTERM" | undefined;
  readonly redactor: Redactor;
  readonly waivers: readonly Waiver[];
  readonly breaches: readonly WaiverBreach[];
  readonly unscored: readonly string[];
  readonly rounds: number;
  readonly leftovers: readonly string[];
  /** Only rows that bind this side stand in the record. Default: all. */
  readonly binds?: "client";
  /** Further qualifiers of the verdict. */
  readonly qualifiers?: readonly string[];
}

/** Puts a run into its record: the product of which every report is a rendering. */
export function composeRecord(facts: Facts): RunRecord {
  const { target, startedAt, results } = facts;
  const endedAt = new Date();
  const record: RunRecord = {
    schemaVersion: RECORD_VERSION,
    runId: createHash("sha256")
      .update(`${startedAt.getTime()} ${facts.seed} ${target.baseUrl}`)
      .digest("hex")
      .slice(0, 16),
    command: facts.command,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    durationMs: endedAt.getTime() - startedAt.getTime(),
    complete: facts.interruptedBy === undefined,
    harness: { name: NAME, version: VERSION },
    requirementSet: requirementSet(),
    target: {
      name: target.name,
      baseUrl: target.baseUrl,
      source: target.source,
      reading: readingRules(target) as RunRecord["target"]["reading"],
      ...(facts.build === undefined ? {} : { build: facts.build }),
    },
    configuration: { value: target.configuration, sha256: sha256(target.configuration) },
    environment: {
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      cpuModel: cpus()[0]?.model ?? "unknown",
      cpus: cpus().length,
      memoryBytes: totalmem(),
    },
    seed: facts.seed,
    verdict: decide(results, {
      targetName: target.name,
      qualifiers: qualifiersOf(facts),
      breaches: facts.breaches.map(({ kind, check, text }) => ({ text: `waiver ${kind}: ${text}`, check })),
      interruptedBy: facts.interruptedBy,
      load: facts.load,
    }),
    counts: countStatuses(results.map(({ status }) => status)),
    rows: LEDGER.filter(({ binds }) => facts.binds === undefined || facts.binds === binds).map((row) => ({ ...row })),
    ...(facts.unscored.length === 0 ? {} : { unscored: [...facts.unscored] }),
    checks: [...results],
    ...(facts.waivers.length === 0 ? {} : { waivers: [...facts.waivers] }),
    ...(facts.rounds === 1 ? {} : { rounds: facts.rounds }),
    ...(facts.leftovers.length === 0 ? {} : { leftovers: [...facts.leftovers] }),
    traffic: {
      requests: facts.requests,
      ...(facts.outputTokens === undefined ? {} : { outputTokens: facts.outputTokens }),
      note: "Attempts that were refused or lost in the network may have no row in the gateway's history.",
    },
    ...(facts.load === undefined ? {} : { load: facts.load }),
  };
  // Answers were redacted one by one; what is left is text of ours and of the operator, such as a path or a name.
  return facts.redactor.redactValue(record);
}

/** What the first line of a verdict must not hide. */
function qualifiersOf({ target, results, unscored, rounds, qualifiers = [] }: Facts): string[] {
  const waived = results.filter((result) => result.waived !== undefined).length;
  const gaps = Object.keys(target.skip);
  const contract = contractInWords(target);
  return [
    ...(gaps.length === 0 ? [] : [`partial: declared gaps ${gaps.join(", ")}`]),
    ...(contract.length === 0 ? [] : [`by a contract of its own: ${contract.join(", ")}`]),
    ...(waived === 0 ? [] : [`${waived} failure${waived === 1 ? "" : "s"} waived`]),
    ...(unscored.length === 0
      ? []
      : [`requirement set ${target.requirementSet}, ${unscored.length} newer rows not yet scored`]),
    ...(rounds === 1 ? [] : [`${rounds} rounds`]),
    ...qualifiers,
  ];
}

function sha256(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex");
}

import { createHash } from "node:crypto";
import { cpus, totalmem } from "node:os";
import type * as z from "zod";
import { describeContract, readingRules } from "../../checks/index.ts";
import { BUILD_OF_PROGRAM, NAME, VERSION } from "../../core/index.ts";
import { RECORD_VERSION, type RunRecord, runRecordSchema } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import { requirementSet } from "./version-document.ts";

export interface RunStart {
  readonly command: string;
  /** The command-line arguments that determine what is run, besides target and seed, as given. */
  readonly arguments?: readonly string[] | undefined;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  /** Absent if no profile was chosen. */
  readonly claimed?: RunRecord["claimed"];
}

/** The part of a record that is known before anything is sent. */
export const recordHeadSchema = runRecordSchema.pick({
  schemaVersion: true,
  runId: true,
  command: true,
  arguments: true,
  startedAt: true,
  harness: true,
  requirementSet: true,
  target: true,
  configuration: true,
  environment: true,
  seed: true,
  claimed: true,
});
export type RecordHead = z.infer<typeof recordHeadSchema>;

export function recordHead({ command, arguments: given, target, seed, startedAt, claimed }: RunStart): RecordHead {
  return {
    schemaVersion: RECORD_VERSION,
    runId: runIdOf(startedAt, seed, target),
    command,
    ...(given !== undefined && { arguments: [...given] }),
    startedAt: startedAt.toISOString(),
    harness: { name: NAME, version: VERSION, ...BUILD_OF_PROGRAM },
    requirementSet: requirementSet(),
    target: {
      name: target.name,
      baseUrl: target.baseUrl,
      ...(target.addresses && { addresses: [...target.addresses.urls] }),
      source: target.source,
      reading: readingRules(target) as RunRecord["target"]["reading"],
    },
    configuration: { value: target.configuration, sha256: sha256(target.configuration) },
    environment: {
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      cpuModel: cpus()[0]?.model ?? "unknown",
      cpus: cpus().length,
      memoryBytes: totalmem(),
    },
    seed,
    ...(claimed !== undefined && { claimed }),
  };
}

export function runIdOf(startedAt: Date, seed: number, { baseUrl }: Pick<RunRecord["target"], "baseUrl">): string {
  return createHash("sha256").update(`${startedAt.getTime()} ${seed} ${baseUrl}`).digest("hex").slice(0, 16);
}

/** What the headline of a verdict must not hide about a target. */
export function targetQualifiers(target: Target): string[] {
  const gaps = Object.keys(target.skip);
  const contract = describeContract(target);
  const { dialects, addresses } = target;
  return [
    ...(addresses === undefined ? [] : [`${addresses.urls.length} addresses`]),
    ...(dialects.length === 1 ? [`${dialects[0]} dialect only`] : []),
    ...(gaps.length === 0 ? [] : [`partial: ${describeGaps(gaps)}`]),
    ...(contract.length === 0 ? [] : [`judged with overrides from contract: ${contract.join(", ")}`]),
  ];
}

/** Maximum number of gaps that a headline names; the target file in the record has all. */
const MAX_GAPS = 5;

function describeGaps(gaps: readonly string[]): string {
  const more = gaps.length - MAX_GAPS;
  if (more <= 0) return `declared gaps ${gaps.join(", ")}`;
  return `${gaps.length} declared gaps: ${gaps.slice(0, MAX_GAPS).join(", ")} and ${more} more`;
}

function sha256(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex");
}

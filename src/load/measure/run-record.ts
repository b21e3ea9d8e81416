import { describeUndecided } from "../../../reports/text/index.ts";
import type { JudgedPhase, JudgedRun, LoadGenerator, LoadReason, UndecidedReason } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import { withoutTiming } from "./phase-record.ts";

export interface RunParts
  extends Pick<JudgedRun, "name" | "kind" | "engine" | "durationS" | "retryAfter" | "generator">,
    Partial<Pick<JudgedRun, "length" | "protocol" | "tokenizer" | "instances" | "endedBy" | "events">> {
  readonly phases: readonly JudgedPhase[];
  /** Limits of a tier run; `null` for plain load. */
  readonly limits: Limits | null;
  /** Names of the keys. */
  readonly keys: readonly string[];
  /** The workload as written. */
  readonly workload: unknown;
  readonly startedAtMs: number;
  /** Why the run ended early, as text: the phases so far count. */
  readonly stopped?: readonly string[];
  /** What is missing from the phases, as text. If anything is, only findings about the content of responses are decided. */
  readonly missing?: readonly string[];
}

/** Creates the record of a run from its judged phases, for every engine and kind. */
export function runRecord(parts: RunParts): JudgedRun {
  const { phases: all, stopped = [], missing = [], startedAtMs, ...run } = parts;
  const unsure = unsureOf(run.generator, missing);
  const phases = unsure === undefined ? [...all] : all.map((phase) => withoutTiming(phase, unsure));
  return {
    ...run,
    ...verdictOfRun(run, phases, { stopped, missing }),
    phases,
    limits: run.limits === null ? null : { ...run.limits },
    keys: [...run.keys],
    startedAt: new Date(startedAtMs).toISOString(),
  };
}

/** Why nothing that depends on timing and counts is decided. */
function unsureOf({ valid, problems }: LoadGenerator, missing: readonly string[]): UndecidedReason | undefined {
  if (!valid) return { kind: "machine-busy", problems };
  return missing.length === 0 ? undefined : { kind: "open", text: missing.join("; ") };
}

/** Marks the generator of a run invalid because another run in the same process was late. @param problems of that run. */
export function withLateGenerator(run: JudgedRun, problems: string[]): JudgedRun {
  const generator = { ...run.generator, valid: false, problems };
  const phases = run.phases.map((phase) => withoutTiming(phase, { kind: "machine-busy", problems }));
  return { ...run, ...verdictOfRun({ ...run, generator }, phases, { stopped: [], missing: [] }), phases, generator };
}

/** The worst phase decides. A run that is incomplete, or whose generator was not valid, passes nothing. */
function verdictOfRun(
  { name: run, generator }: Pick<RunParts, "name" | "generator">,
  phases: readonly JudgedPhase[],
  { stopped, missing }: Required<Pick<RunParts, "stopped" | "missing">>,
): Pick<JudgedRun, "verdict" | "reasons"> {
  const reasonsOf = (verdict: JudgedPhase["verdict"]) =>
    phases
      .filter((phase) => phase.verdict === verdict)
      .map(({ name, message }) => ({ text: name === run ? message : `${name}: ${message}`, phase: name }));
  const ofRun = (texts: readonly string[]) => texts.map((text) => ({ text }));
  const busy: UndecidedReason = { kind: "machine-busy", problems: generator.problems };
  const problems: LoadReason[] = [
    ...ofRun(missing),
    ...(generator.valid ? [] : [{ text: describeUndecided(busy), reason: busy }]),
  ];
  const failed = reasonsOf("fail");
  if (failed.length > 0) return { verdict: "fail", reasons: [...ofRun(stopped), ...failed, ...problems] };
  if (!generator.valid || stopped.length + missing.length > 0)
    return { verdict: "inconclusive", reasons: [...ofRun(stopped), ...problems] };
  if (phases.length === 0) return { verdict: "inconclusive", reasons: ofRun(["nothing was sent"]) };
  for (const verdict of ["inconclusive", "warn"] as const) {
    const reasons = reasonsOf(verdict);
    if (reasons.length > 0) return { verdict, reasons };
  }
  return { verdict: "pass", reasons: [] };
}

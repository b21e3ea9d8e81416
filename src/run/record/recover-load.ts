import { isObject, member } from "../../core/index.ts";
import {
  type JournalLine,
  type JudgedLoad,
  type JudgedPhase,
  type JudgedRun,
  judgedPhaseSchema,
  type LoadSecond,
  responseByModeSchema,
  UNMEASURED,
} from "../../record/index.ts";

type Counts = Pick<JudgedPhase, "offered" | "sent" | "admitted" | "denied" | "failed" | "invalid" | "dropped">;

const NAMES = ["offered", "sent", "admitted", "denied", "failed", "invalid", "dropped"] as const;
/** Journal event: the load so far is discarded and measured again. */
export const LOAD_DISCARDED = "load-discarded";
const CUT = "cut off before its end";

/** The load of a killed run: its phases as recorded, the last one from its per-second counters. */
export function recoverLoad(all: readonly JournalLine[]): JudgedLoad | undefined {
  // Discarded measurements do not count.
  const lines = all.slice(all.map(({ event }) => event).lastIndexOf(LOAD_DISCARDED) + 1);
  const runs = lines
    .filter(({ event }) => event === "load-started")
    .flatMap((line) => (Array.isArray(line["runs"]) ? line["runs"].map((run: unknown) => ({ run, at: line.at })) : []));
  const recovered = runs.flatMap(({ run, at }) => recoverRun(run, at, lines) ?? []);
  return recovered.length === 0 ? undefined : { runs: recovered };
}

function recoverRun(run: unknown, at: string, lines: readonly JournalLine[]): JudgedRun | undefined {
  const name = member(run, "name");
  const engine = member(run, "engine");
  const kind = member(run, "kind");
  if (typeof name !== "string" || (kind !== "tier" && kind !== "workload")) return undefined;
  if (engine !== "native" && engine !== "autocannon" && engine !== "k6") return undefined;
  const own = lines.filter((line) => line["run"] === name);
  const finished = own.flatMap((line) => {
    const parsed = judgedPhaseSchema.safeParse(line.event === "phase-finished" ? line["record"] : undefined);
    return parsed.success ? [parsed.data] : [];
  });
  const open = openPhase(own, new Set(finished.map((phase) => phase.name)));
  const phases = [...finished, ...(open === undefined ? [] : [open])];
  const last = phases.at(-1);
  const failed = finished.filter(({ verdict }) => verdict === "fail");
  return {
    name,
    kind,
    engine,
    // A failed phase stays failed, whatever would have followed; passes so far are not a pass.
    verdict: failed.length > 0 ? "fail" : "inconclusive",
    reasons: [...failed.map(({ name: phase, message }) => ({ text: `${phase}: ${message}`, phase })), { text: CUT }],
    limits: null,
    keys: [],
    workload: member(run, "workload") ?? null,
    startedAt: at,
    durationS: last === undefined ? 0 : last.startS + last.durationS,
    phases,
    retryAfter: null,
    generator: { ...UNMEASURED, valid: false, problems: ["the generator's own figures are missing"] },
  };
}

/** The running phase, as far as its counters were recorded. */
function openPhase(own: readonly JournalLine[], finished: ReadonlySet<string>): JudgedPhase | undefined {
  const progress = own.filter(({ event, phase }) => event === "load-progress" && !finished.has(String(phase)));
  const last = progress.at(-1);
  if (last === undefined) return undefined;
  const name = String(last["phase"]);
  const ours = progress.filter(({ phase }) => phase === name);
  const startS = numberOf(ours[0]?.["elapsedS"]);
  const durationS = Math.max(0, numberOf(last["elapsedS"]) - startS);
  const counts = countsOf(last["counts"]);
  const perS = (count: number) => (durationS === 0 ? 0 : count / durationS);
  return {
    name,
    title: name,
    verdict: "inconclusive",
    message: CUT,
    startS,
    durationS,
    ...counts,
    rates: {
      offered: perS(counts.offered),
      sent: perS(counts.sent),
      admitted: perS(counts.admitted),
      denied: perS(counts.denied),
      failed: perS(counts.failed),
      invalid: perS(counts.invalid),
    },
    peakInFlight: Math.max(0, ...ours.slice(-MAX_SECONDS).map((line) => whole(line["inFlight"]))),
    connections: 0,
    classes: [],
    series: seriesOf(ours),
    denials: [],
    failures: [],
    invalidReplies: [],
    unknownFields: [],
    findings: [],
    invariants: [],
    sampled: 0,
  };
}

/** A day: more than a chart shows. */
const MAX_SECONDS = 86_400;

/** Per-second counters, from the cumulative ones. */
function seriesOf(progress: readonly JournalLine[]): LoadSecond[] {
  let before: Counts = countsOf(undefined);
  return progress.slice(-MAX_SECONDS).map((line) => {
    const now = countsOf(line["counts"]);
    const second = Object.fromEntries(NAMES.map((name) => [name, Math.max(0, now[name] - before[name])])) as Counts;
    before = now;
    const latencies = responseByModeSchema.safeParse(line["responseByModeMs"]);
    return {
      atS: Math.max(0, Math.floor(numberOf(line["elapsedS"]))),
      ...second,
      inFlight: whole(line["inFlight"]),
      responseByModeMs: latencies.success ? latencies.data : { streaming: null, nonStreaming: null },
      ttftMs: null,
    };
  });
}

function countsOf(value: unknown): Counts {
  return Object.fromEntries(NAMES.map((name) => [name, whole(isObject(value) ? value[name] : 0)])) as Counts;
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function whole(value: unknown): number {
  return Math.max(0, Math.floor(numberOf(value)));
}

import type { EndedGenerator, EndedRun } from "../event-stream.ts";
import type { LiveLatency, LivePhase, LiveSecond, LiveUpdate } from "../live-feed.ts";
import { figure, make, whole } from "./dom.ts";

/** p50, p95 and p99 of all admitted requests so far. */
export function latencyTiles(latency: LiveLatency | undefined): HTMLElement[] {
  const { streaming = null, nonStreaming = null } = latency?.responseByModeMs ?? {};
  const tiles = [
    ["TTFT", latency?.ttftMs ?? null, "all admitted streams"],
    ["E2E latency", streaming, "all admitted streams"],
    ["E2E latency", nonStreaming, "all admitted non-streaming replies"],
  ] as const;
  return tiles.flatMap(([name, of, what]) =>
    of === null
      ? []
      : [tile(`${name} p50 / p95 / p99`, [of.p50, of.p95, of.p99].map(figure).join(" / "), `ms, ${what}`)],
  );
}

/** The running phase and the last second. */
export function current(seconds: readonly LiveSecond[], phases: readonly LivePhase[]): HTMLElement[] {
  const last = seconds.at(-1);
  const now = phases.findLast(({ verdict }) => verdict === null);
  const progress =
    now === undefined || now.totalS === null ? "" : `${Math.floor(now.elapsedS)} of about ${Math.ceil(now.totalS)} s`;
  return [
    tile("Phase", now?.phase ?? "none", progress),
    tile("Offered per second", whole(last?.offered), "due in the last second"),
    tile("Admitted per second", whole(last?.admitted), "ended in the last second"),
    tile("In flight", whole(now?.inFlight ?? 0), now === undefined ? "" : `${whole(now.connections)} connections`),
  ];
}

/** Everything since the start of the run. */
export function soFar(
  phases: readonly LivePhase[],
  { scheduleLagP99Ms, scheduleLagBoundMs, loopDelayP99Ms, late, wasLate }: LiveUpdate["generator"],
  latency: LiveLatency | undefined,
): HTMLElement[] {
  const sum = sumOf(phases);
  const bound = scheduleLagBoundMs === undefined ? "" : ` (limit ${whole(scheduleLagBoundMs)} ms)`;
  const delays = `lag p99 ${figure(scheduleLagP99Ms)} ms${bound}, loop delay p99 ${figure(loopDelayP99Ms)} ms`;
  return [
    ...latencyTiles(latency),
    tile("Admitted", whole(sum("admitted")), `of ${whole(sum("offered"))} offered`),
    tile("Denied", whole(sum("denied")), "", sum("denied") > 0 ? "caution" : ""),
    tile("Failed", whole(sum("failed")), "", sum("failed") > 0 ? "bad" : ""),
    tile("Invalid", whole(sum("invalid")), "2xx replies that no client could use", sum("invalid") > 0 ? "bad" : ""),
    tile(
      "Generator",
      late ? "late" : wasLate ? "was late" : "on time",
      delays,
      late ? "bad" : wasLate ? "caution" : "",
    ),
  ];
}

type CountName = keyof LivePhase["counts"];

const sumOf = (phases: readonly LivePhase[]) => (name: CountName) =>
  phases.reduce((all, { counts }) => all + counts[name], 0);

/**
 * Tiles for a run that has ended. Its latencies are in a table, as in the report.
 *
 * @param ended figures of its record; `undefined` if the run ended without one.
 */
export function totals(phases: readonly LivePhase[], ended: EndedRun | undefined): HTMLElement[] {
  const sum = sumOf(phases);
  const durationS = phases.reduce((all, { elapsedS }) => all + elapsedS, 0);
  const ofOffered = `of ${whole(sum("offered"))} offered`;
  const count = phases.length === 1 ? "1 phase" : `${phases.length} phases`;
  return [
    tile("Offered", whole(sum("offered")), `in ${Math.round(durationS)} s, ${count}`),
    tile("Admitted", whole(sum("admitted")), ofOffered),
    tile("Denied", whole(sum("denied")), ofOffered, sum("denied") > 0 ? "caution" : ""),
    tile("Failed", whole(sum("failed")), ofOffered, sum("failed") > 0 ? "bad" : ""),
    tile("Invalid", whole(sum("invalid")), "2xx replies that no client could use", sum("invalid") > 0 ? "bad" : ""),
    tile("Dropped", whole(sum("dropped")), ofOffered, sum("dropped") > 0 ? "caution" : ""),
    ...(ended?.admitted === undefined
      ? []
      : [tile("Admitted per second", figure(ended.admitted.perS), ended.admitted.note)]),
    ...(ended === undefined ? [] : [generatorAtEnd(ended.generator)]),
  ];
}

function generatorAtEnd({ scheduleLagP99Ms, problems: [problem, ...more] }: EndedGenerator): HTMLElement {
  if (problem === undefined) return tile("Generator", "valid", `lag p99 ${figure(scheduleLagP99Ms)} ms`);
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  return tile("Generator", "not valid", problem + others, "bad");
}

function tile(name: string, value: string, note: string, tone = ""): HTMLElement {
  const shown = make("dd", value, tone);
  shown.append(make("small", note));
  const box = make("div");
  box.append(make("dt", name), shown);
  return box;
}

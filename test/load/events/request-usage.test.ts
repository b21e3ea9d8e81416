import { expect, test } from "vitest";
import { CPU, LOG, requestUsage, type UsageKind } from "../../../src/load/events/judge/request-usage.ts";
import type { JudgedRun, LoadEvent } from "../../../src/record/index.ts";

const [AT_S, TO_S, ENDS_S] = [30, 50, 70];
const PER_S = 6;

interface Sampled {
  /** ms of CPU time, or bytes, between two samples a second apart; `null`: unknown. */
  readonly used: (second: number) => number | null;
  readonly perS?: number;
}

const EXECUTION = { action: "x", succeeded: true, result: "", exitCode: 0, output: "", outputBytes: 0 };

function useOf(kind: UsageKind, { used, perS = PER_S }: Sampled) {
  const seconds = Array.from({ length: ENDS_S }, (_, second) => second);
  // Samples are not taken at whole seconds.
  const atS = (second: number) => second + 0.3;
  const samples = seconds.map((second) => ({ atS: atS(second), used: second === 0 ? null : used(second) }));
  const event = {
    ...{ name: "e", atS: AT_S, durationS: TO_S - AT_S, figures: null },
    execution: { ...EXECUTION, startedS: AT_S, endedS: AT_S + 0.2 },
    undo: { ...EXECUTION, startedS: TO_S, endedS: TO_S },
  } satisfies LoadEvent;
  const watched =
    kind === CPU
      ? {
          processes: {
            ...{ pid: 2, leaks: [] },
            samples: samples.map((one) => ({
              atS: one.atS,
              cpuShare: one.used === null ? null : one.used / 1_000,
              memoryBytes: 1,
              openFiles: 1,
              threads: 1,
            })),
          },
        }
      : { logs: { files: ["a.log"], samples: samples.map((one) => ({ atS: one.atS, bytes: one.used })) } };
  const phases = [
    { startS: 0, series: seconds.map((second) => ({ atS: second, sent: perS })) },
  ] as unknown as JudgedRun["phases"];
  return requestUsage(kind, event, { events: [event], phases, watched });
}

const during = (second: number) => second > AT_S && second <= TO_S;

test.each([
  [
    "CPU time that is four times as much",
    CPU,
    (second: number) => (during(second) ? 120 : 30),
    { before: 5, during: 20, ratio: 4 },
  ],
  [
    "log output that is ten times as much",
    LOG,
    (second: number) => (during(second) ? 12_000 : 1_200),
    { before: 200, during: 2_000, ratio: 10 },
  ],
  [
    "a stack for each request where nothing was logged before",
    LOG,
    (second: number) => (during(second) ? 6_000 : 0),
    { before: 0, during: 1_000, ratio: 10 },
  ],
  [
    "a single message where nothing was logged before",
    LOG,
    (second: number) => (second === 35 ? 500 : 0),
    { before: 0, ratio: 0.04 },
  ],
])("%s", (_name, kind, used, { ratio, ...levels }) => {
  const use = useOf(kind, { used });
  if (typeof use === "string") throw new Error(use);
  const rounded = { before: Math.round(use.before), during: Math.round(use.during) };
  expect(rounded).toMatchObject(levels);
  expect(use.ratio.value).toBeCloseTo(ratio, 1);
  expect(use.ratio.low).toBeLessThanOrEqual(use.ratio.value);
  expect(use.ratio.high).toBeLessThan(Math.max(2, ratio * 1.5));
});

test("what is written in bursts has a wide interval", () => {
  const use = useOf(LOG, { used: (second) => (second % 8 === 0 ? 9_600 : 0) });
  if (typeof use === "string") throw new Error(use);
  expect(use.ratio.low).toBeLessThan(0.5);
  expect(use.ratio.high).toBeGreaterThan(2);
});

test.each([
  [
    "a process was replaced before the event",
    CPU,
    { used: (second: number) => (second === 12 ? null : 30) },
    /^CPU time before the event is unknown: a process or a file was replaced, truncated or missing 12 s after the start/,
  ],
  [
    "a log was truncated during the event",
    LOG,
    { used: (second: number) => (second === 40 ? null : 900) },
    /^log output during the event is unknown: .* 40 s after the start/,
  ],
  ["the processes did nothing", CPU, { used: () => 0 }, /used no CPU time: they may not be the gateway's/],
  [
    "the log was never written",
    LOG,
    { used: () => 0 },
    /^nothing was written to the files of processes\.logs during the whole load/,
  ],
  [
    "hardly anything was sent",
    CPU,
    { used: () => 30, perS: 0.5 },
    /only \d+ samples with \d+ requests; 5 samples and 20 requests are needed/,
  ],
])("unknown because %s", (_name, kind, sampled, why) => {
  expect(useOf(kind, sampled)).toMatch(why);
});

test("a replacement after the event changes nothing", () => {
  expect(useOf(CPU, { used: (second) => (second === 60 ? null : 30) })).toMatchObject({ before: 5, during: 5 });
});

test("without samples, nothing is known", () => {
  const event = { name: "e", atS: 1, execution: null, figures: null } satisfies LoadEvent;
  expect(requestUsage(CPU, event, { events: [event], phases: [] })).toMatch(
    /^CPU time was not measured: only `gauntlet load` samples it, on Linux$/,
  );
});

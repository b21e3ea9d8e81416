import { afterEach, describe, expect, test, vi } from "vitest";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { judgeStop, judgeTotals, totalsQuestions } from "../../../src/load/analysis/judge-totals.ts";
import {
  assertDecidableByTotals,
  endIfCrossed,
  readThresholds,
  watchThresholds,
  withThresholds,
} from "../../../src/load/analysis/thresholds.ts";
import { OutcomeCounts } from "../../../src/load/measure/phase-record.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { LoadGuard } from "../../../src/load/send/load-guard.ts";
import { DEFAULT_ALLOW } from "../../../src/load/workload/workload.ts";
import type { JudgedPhase } from "../../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../../support/load-records.ts";

const aborting = (threshold: string) => readThresholds([{ threshold, abortOnFail: true, delayAbortEvalS: 2 }]);
const guard = () => new LoadGuard({ budget: { requests: 10_000 }, circuit: undefined });
const totals = (failed: number, elapsedS = 10) => ({
  ...{ sent: 1_000, admitted: 1_000 - failed, denied: 0, refused: 0, failed, elapsedS },
});

const shares = (failed: number, interval: [number, number]): NonNullable<JudgedPhase["shares"]> => ({
  ...{ admitted: 1 - failed, denied: 0, failed, invalid: 0 },
  intervals: { admitted: [0, 1], denied: [0, 1], failed: interval, invalid: [0, 1] },
});

describe("running totals of an engine", () => {
  test.each([
    ["failed < 1 %", totals(40), true],
    ["failed < 1 %", totals(12), false],
    ["failed < 1 %", totals(40, 1), false],
    ["failed < 30", totals(40), true],
    ["admitted > 99 %", totals(40), true],
    ["admitted > 99 %", totals(12), false],
  ])("%s after %j ends the load: %s", (threshold, now, isEnded) => {
    const one = guard();
    endIfCrossed(aborting(threshold), one, now);
    expect(one.stop?.kind).toBe(isEnded ? "threshold" : undefined);
  });

  test.each(["response_ms p95 < 800", "failed{phase=w} < 3", "admitted > 500"])("cannot decide %s", (threshold) => {
    expect(() => assertDecidableByTotals(aborting(threshold), "k6")).toThrow(
      /needs the native engine: k6 only reports counts/,
    );
    expect(() => assertDecidableByTotals(readThresholds([threshold]), "k6")).not.toThrow();
  });
});

describe("evaluations of a running load", () => {
  afterEach(() => vi.useRealTimers());

  /** Evaluates thresholds once a second, and admits the given number of requests before each evaluation. @returns when the load ended, s. */
  function endOf(thresholds: readonly string[], admitted: readonly number[]): number | undefined {
    vi.useFakeTimers();
    const one = guard();
    const tally = new Tally(0);
    let nowS = 0;
    using _watching = watchThresholds(
      readThresholds(thresholds.map((threshold) => ({ threshold, abortOnFail: true }))),
      { name: "w", tally, outcomes: new OutcomeCounts(), guard: one, elapsedS: () => nowS },
    );
    for (const count of admitted) {
      for (let index = 0; index < count; index++) admit(tally, nowS * 1_000_000);
      nowS++;
      vi.advanceTimersByTime(1_000);
      if (one.stop !== undefined) return nowS;
    }
    return undefined;
  }

  function admit(tally: Tally, atUs: number): void {
    const prepared = {
      url: "http://127.0.0.1:1/v1/chat/completions",
      dialect: "chat",
      stream: false,
      bytes: Buffer.alloc(0),
      key: "valid",
      capture: false,
    } as const;
    tally.offered(atUs);
    tally.sent(atUs, atUs, 1);
    tally.ended(Object.assign(new LoadExchange(prepared, atUs, 0), { sentUs: atUs, endUs: atUs + 1_000 }), "admitted");
  }

  test("four crossings of the same threshold in a row end the load", () => {
    expect(endOf(["sent < 10"], [1, 9, 1, 1, 1, 1])).toBe(5);
  });

  test("crossings of two thresholds one after the other are not added up", () => {
    // "admitted >= 10" is crossed in the first two evaluations, and "sent < 10" from the third.
    const both = ["admitted >= 10", "sent < 10"];
    expect(endOf(both, [1, 1, 8, 1])).toBeUndefined();
    expect(endOf(both, [1, 1, 8, 1, 1, 1])).toBe(6);
  });
});

describe("a threshold that ended a load", () => {
  const endedBy = { threshold: "failed < 1 %", figure: "4 % (95 % interval: 2 % to 6 %)", afterS: 12.4 };
  const ended = (failed: number, ends: [number, number], valid = true) => {
    const phases = [loadPhase("w", { classes: [], failed: failed * 5_000, shares: shares(failed, ends) })];
    const run = loadRun("w", { phases, workload: { thresholds: ["failed < 1 %", "sent < 1"] } });
    return withThresholds({ ...run, endedBy, generator: { ...run.generator, valid } }).thresholds?.flatMap(
      ({ findings }) => findings,
    );
  };

  test("is crossed by the figure of the whole run, and says that it ended the load", () => {
    const observed = { kind: "facts", text: "5 % (95 % interval: 3 % to 7 %), which ended the load after 12 s" };
    expect(ended(0.05, [0.03, 0.07])?.[0]).toMatchObject({ outcome: "broken", observed });
  });

  test("stays crossed if responses after its end make the interval contain the bound", () => {
    const observed = { kind: "facts", text: `${endedBy.figure}, which ended the load after 12 s` };
    expect(ended(0.015, [0.009, 0.021])?.[0]).toMatchObject({ outcome: "broken", observed });
  });

  test("is not decided by a generator that was late, and says that it ended the load", () => {
    const observed = { kind: "facts", text: `${endedBy.figure}, which ended the load after 12 s` };
    expect(ended(0.015, [0.009, 0.021], false)?.[0]).toMatchObject({ outcome: "undecided", observed });
  });

  test("says how much of the load was sent, if the plan has a number of requests", () => {
    const progress = { plannedS: 30, sent: 372, plannedRequests: 1_200 };
    const run = loadRun("w", { phases: [loadPhase("w", { classes: [] })], workload: { thresholds: ["failed < 1 %"] } });
    const judged = withThresholds({ ...run, endedBy: { ...endedBy, progress } });
    const text = `${endedBy.figure}, which ended the load after 12 of 30 s, 372 of 1,200 requests`;
    expect(judged.thresholds?.[0]?.findings[0]?.observed).toEqual({ kind: "facts", text });
  });

  test("is the only one that did", () => {
    expect(ended(0.05, [0.03, 0.07])?.[1]).toMatchObject({ outcome: "broken", observed: { text: "5,000" } });
  });

  test("is judged once: the phase only records the end", () => {
    const one = guard();
    one.endByThreshold(endedBy);
    expect(judgeStop(one.stop)).toMatchObject([
      {
        name: "load.aborted",
        outcome: "observed",
        observed: { text: "crossed failed < 1 %: 4 % (95 % interval: 2 % to 6 %), after 12 s; the rest was not sent" },
      },
    ]);
  });
});

describe("a run whose generator was late", () => {
  const p50: [number, number] = [418, 422];
  const intervals = { p50, p90: null, p95: null, p99: null, p999: null };
  const classes = [loadClass({ responseMs: { ...quantiles(420), intervals } })];
  const late = (failed: number, threshold: string) => {
    const phases = [
      loadPhase("w", { classes, failed: failed * 5_000, shares: shares(failed, [failed * 0.8, failed * 1.2]) }),
    ];
    const run = loadRun("w", { phases, workload: { thresholds: [threshold] } });
    const judged = withThresholds({ ...run, generator: { ...run.generator, valid: false, problems: ["late"] } });
    return judged.thresholds?.[0]?.status;
  };

  test("decides no latency", () => {
    expect(late(0, "response_ms p50 < 100")).toBe("inconclusive");
  });

  test("decides shares of requests that failed", () => {
    expect(late(0.2, "failed < 1 %")).toBe("fail");
    expect(late(0.002, "failed < 1 %")).toBe("pass");
  });
});

test.each([
  ["without a threshold, the default of allow decides", {}, ["load.failed"]],
  ["a threshold on all requests decides", { thresholds: ["failed < 5 %"] }, []],
  ["a threshold on some requests does not", { thresholds: ["failed{dialect=chat} < 5 %"] }, ["load.failed"]],
  ["a lower bound does not", { thresholds: ["failed > 5 %"] }, ["load.failed"]],
  ["an explicit allow decides as well", { thresholds: ["failed < 5 %"], allow: { failedShare: 0 } }, ["load.failed"]],
])("%s", (_what, written, expected) => {
  const totals = {
    ...{ sent: 100, admitted: 99, denied: 0, failed: 1, invalid: 0, dropped: 0, denials: [], invalidReplies: [] },
    failures: [{ what: "500", count: 1 }],
  };
  const named = judgeTotals({ allow: DEFAULT_ALLOW, written }, totals).map(({ name }) => name);
  expect(named.filter((name) => name === "load.failed")).toEqual(expected);
  // Whatever a phase must decide is decided.
  expect(totalsQuestions({ written }).filter((question) => !named.includes(question))).toEqual([]);
});

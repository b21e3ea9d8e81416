import { describe, expect, test } from "vitest";
import { LoadExchange, type PreparedRequest } from "../../../src/http/load-client/load-exchange.ts";
import { judgeSoFar } from "../../../src/load/analysis/thresholds.ts";
import { requestObjective } from "../../../src/load/measure/goodput.ts";
import { OutcomeCounts } from "../../../src/load/measure/phase-record.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { readHeatColumn } from "../../../src/metrics/index.ts";
import { parseThreshold } from "../../../src/policy/index.ts";

const REQUEST: PreparedRequest = {
  url: "http://127.0.0.1:1/v1/chat/completions",
  dialect: "chat",
  stream: false,
  bytes: Buffer.alloc(0),
  key: "valid",
  capture: false,
};

/** A non-streaming reply that was due and sent at the same moment, seconds from the start. */
function reply(fromS: number, toS: number): LoadExchange {
  const fromUs = fromS * 1_000_000;
  const exchange = new LoadExchange(REQUEST, fromUs, 0);
  return Object.assign(exchange, {
    sentUs: fromUs,
    headUs: fromUs + 1,
    firstByteUs: fromUs + 1,
    endUs: toS * 1_000_000,
    reads: 1,
  });
}

/** Counts like a driver: a request is counted when it has ended, because only then its send time is known. */
function count(tally: Tally, entry: LoadExchange, inFlight: number): void {
  tally.offered(entry.dueUs);
  tally.sent(entry.dueUs, entry.sentUs, inFlight);
  tally.ended(entry, "admitted");
}

describe("the seconds of a tally", () => {
  test("in flight is the maximum of each second, even if nothing was sent in it", () => {
    const tally = new Tally(0);
    count(tally, reply(0.2, 0.4), 1);
    count(tally, reply(0.6, 3.5), 1);
    count(tally, reply(0.7, 3.6), 2);
    count(tally, reply(3.7, 3.8), 1);
    expect(tally.close(10).series.map(({ atS, sent, inFlight }) => [atS, sent, inFlight])).toEqual([
      [10, 3, 2],
      [11, 0, 2],
      [12, 0, 2],
      [13, 1, 2],
    ]);
  });

  test("reading a running load, however often, loses no latency", () => {
    const [read, unread] = [new Tally(0), new Tally(0)];
    for (let at = 0; at < 8; at++)
      for (const tally of [read, unread]) {
        count(tally, reply(at / 2, at / 2 + 0.1 * (1 + (at % 2))), 1);
        if (tally === read) for (let times = 0; times < 3; times++) tally.close(0);
      }
    expect(read.close(0).series).toEqual(unread.close(0).series);
    expect(read.close(0).series.every(({ responseByModeMs }) => responseByModeMs?.nonStreaming !== null)).toBe(true);
  });

  test("a second in which nothing was in flight has no entry", () => {
    const tally = new Tally(0);
    count(tally, reply(0.2, 0.4), 1);
    count(tally, reply(2.2, 2.4), 1);
    expect(tally.close(0).series.map(({ atS, inFlight }) => [atS, inFlight])).toEqual([
      [0, 1],
      [2, 1],
    ]);
  });
});

/** Requests of a minute, one every tenth of a second, with growing latency. */
const MINUTE = Array.from({ length: 600 }, (_, index) => reply(index / 10, index / 10 + 0.01 + index / 1_000));

describe("tallies of workers", () => {
  test("add up to what one thread would have counted", () => {
    const alone = new Tally(0);
    const workers = [0, 1, 2].map(() => new Tally(0, { keep: true }));
    for (const [index, entry] of MINUTE.entries()) {
      count(alone, entry, 1);
      count(workers[index % 3] as Tally, entry, 1);
    }
    const together = new Tally(0);
    for (const worker of workers) together.merge(structuredClone(worker.store()), "shared");
    expect(together.total).toEqual(alone.total);
    const merged = together.close(5);
    const expected = alone.close(5);
    expect(merged.series).toEqual(expected.series);
    expect(merged.heat).toEqual(expected.heat);
    expect(merged.classes).toEqual(expected.classes);
  });
});

describe("heat", () => {
  test("every admitted request is one count, in the row of its duration and the column of its end", () => {
    const tally = new Tally(0);
    for (const entry of MINUTE) count(tally, entry, 1);
    const { response } = tally.close(0).heat ?? {};
    const cells = response?.columns.map(readHeatColumn) ?? [];
    expect(response?.everyS).toBe(1);
    expect(cells.flat().reduce((sum, [, n]) => sum + n, 0)).toBe(600);
    // 10 to 19 ms: from 10^4 µs, and above it.
    expect(cells[0]?.[0]).toEqual([40, 3]);
    // 500 ms and more, 10^5.7 µs.
    expect(cells[50]?.every(([row]) => row === 56 || row === 57)).toBe(true);
  });

  test("a long run takes no more columns than a short one, and loses nothing", () => {
    const tally = new Tally(0);
    for (let second = 0; second < 1_800; second++)
      for (let many = 0; many < 5; many++) count(tally, reply(second, second + 0.05 * (many + 1)), 1);
    const { heat } = tally.close(0);
    expect(heat?.response.columns.length).toBeLessThanOrEqual(180);
    expect((heat?.response.everyS ?? 0) * (heat?.response.columns.length ?? 0)).toBeGreaterThanOrEqual(1_800);
    expect(heat?.response.columns.flatMap(readHeatColumn).reduce((sum, [, n]) => sum + n, 0)).toBe(9_000);
    expect(JSON.stringify(heat).length).toBeLessThan(10_000);
  });
});

test("a threshold on goodput is not crossed by requests that are still in flight", () => {
  const objective = requestObjective("response_ms < 300");
  const tally = new Tally(0, { objectives: objective === undefined ? [] : [objective] });
  // Every reply meets the objective. As in a load of long streams, a third of the requests have not ended.
  for (let at = 0; at < 100; at++) count(tally, reply(at / 50, at / 50 + 0.1), 1);
  for (let at = 0; at < 50; at++) tally.offered(1_900_000);
  const threshold = parseThreshold("goodput > 95 %");
  if (typeof threshold === "string") throw new Error(threshold);
  const measured = { name: "w", tally, outcomes: new OutcomeCounts(), elapsedS: () => 2 };
  expect(judgeSoFar([{ threshold }], measured)).toMatchObject([{ outcome: "met" }]);
});

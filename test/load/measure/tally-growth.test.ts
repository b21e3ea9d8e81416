import { expect, test } from "vitest";
import { seededRandom } from "../../../src/core/index.ts";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { GrowthReader } from "../../../src/load/measure/tally-growth.ts";
import { Histogram, ReadCounts } from "../../../src/metrics/index.ts";

/** All values of a histogram. */
const requested = (histogram: Histogram) => ({
  count: histogram.count,
  maxUs: histogram.maxUs,
  sumUs: histogram.sumUs,
  quantiles: histogram.quantilesMs(),
  upTo: histogram.countsUpTo([100, 10_000, 1_000_000, 100_000_000]),
});

test("a histogram that grows by what another one counted has the same counts, whenever that is read", () => {
  const random = seededRandom(7);
  const [source, copy, read] = [new Histogram(), new Histogram(), new ReadCounts()];
  expect(source.growth(read)).toBeUndefined();
  for (let round = 0; round < 40; round++) {
    // Occasionally a value that widens the histogram: up to a day.
    for (let value = 0; value < round; value++) source.record(10 ** (random() * (round % 7 === 0 ? 10.9 : 6)));
    const growth = source.growth(read);
    expect(growth === undefined).toBe(round === 0);
    if (growth !== undefined) copy.grow(growth);
    expect(requested(copy)).toEqual(requested(source));
  }
  // Only the growth is in it: a second reading is empty.
  expect(source.growth(read)).toBeUndefined();
});

const START_US = 5_000_000;
const TOKEN = Buffer.from('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');

/** Counts requests of one second into a tally; some of them end in a later one. */
function count(tally: Tally, second: number, random: () => number): void {
  for (let request = 0; request < 30; request++) {
    const stream = random() < 0.5;
    const prepared = { dialect: random() < 0.3 ? "messages" : "chat", stream } as LoadExchange["prepared"];
    const dueUs = START_US + (second + random()) * 1_000_000;
    const exchange = new LoadExchange(prepared, dueUs, 0);
    exchange.sentUs = dueUs + random() * 2_000;
    exchange.readUs = exchange.sentUs + 5_000;
    exchange.onHead(200, "HTTP/1.1 200 OK");
    for (let token = 0; stream && token < 12; token++) {
      exchange.readUs += 1_000 + random() * 100_000;
      exchange.onBody(TOKEN, 0, TOKEN.length);
    }
    exchange.endUs = exchange.readUs + random() * 300_000;
    tally.offered(dueUs);
    tally.sent(dueUs, exchange.sentUs, 1 + Math.floor(random() * 20));
    tally.ended(exchange, random() < 0.8 ? "admitted" : "denied");
  }
  tally.offered(START_US + second * 1_000_000);
  tally.dropped(START_US + second * 1_000_000);
}

/** Everything that is shown of a tally; the order of the classes has no meaning. */
function shownOf(tally: Tally, atUs: number) {
  const classes = [...tally.classes].map(({ dialect, stream, outcome, count, outputTokens, figures }) => ({
    name: `${dialect} ${stream} ${outcome}`,
    ...{ count, outputTokens },
    figures: Object.fromEntries([...figures].map(([name, histogram]) => [name, requested(histogram)])),
  }));
  return {
    total: tally.total,
    lag: requested(tally.lag),
    classes: classes.sort((a, b) => a.name.localeCompare(b.name)),
    seconds: tally.over(3, { atUs, from: 0 }),
  };
}

test("what workers report while running adds up to their final results", () => {
  const random = seededRandom(11);
  const workers = [1, 2, 3].map(() => new Tally(START_US, { keep: true }));
  const readers = workers.map((tally) => new GrowthReader(tally));
  const shown = new Tally(START_US);
  for (let second = 0; second < 12; second++) {
    for (const [index, tally] of workers.entries()) {
      // One of them counts nothing for a while.
      if (index !== 1 || second % 4 !== 2) count(tally, second, random);
      const atUs = START_US + (second + 0.7 + 0.1 * index) * 1_000_000;
      shown.grow((readers[index] as GrowthReader).read(atUs));
    }
    const soFar = workers.reduce((sum, { total }) => sum + total.sent, 0);
    expect(shown.total.sent, `second ${second}`).toBe(soFar);
  }
  const endUs = START_US + 20 * 1_000_000;
  for (const reader of readers) shown.grow(reader.read(endUs));
  const merged = new Tally(START_US);
  for (const tally of workers) merged.merge(tally.store(), "shared");
  expect(shownOf(shown, endUs)).toEqual(shownOf(merged, endUs));
  expect(shownOf(shown, endUs).seconds.length).toBeGreaterThanOrEqual(12);
  // Reported once: nothing more follows.
  const rest = (readers[0] as GrowthReader).read(endUs);
  expect(rest).toEqual({
    total: { offered: 0, sent: 0, admitted: 0, denied: 0, failed: 0, invalid: 0, dropped: 0 },
    lag: undefined,
    classes: [],
    seconds: [],
  });
});

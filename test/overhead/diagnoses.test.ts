import { expect, test } from "vitest";
import { diagnose } from "../../src/overhead/diagnoses.ts";
import type { OverheadLevel } from "../../src/record/index.ts";
import { addedBy, overheadLevel } from "../support/overhead-records.ts";

const PLAIN = overheadLevel({ addedMs: addedBy(1) });
const SMALL = { p50: 30, p90: 31, p99: 32 };

function stream(overrides: Partial<OverheadLevel>): OverheadLevel {
  return overheadLevel({ stream: true, eventsPerRead: { direct: 1, through: 1 }, ...overrides });
}

test.each<[what: string, levels: readonly OverheadLevel[], says: RegExp | undefined]>([
  ["a gateway without a peculiarity", [PLAIN, stream({})], undefined],
  ["streams that come 41 ms later", [PLAIN, stream({ addedTtftMs: addedBy(41) })], /41\.0 ms later.*TCP_NODELAY/],
  [
    "a queue that is about as long, by an interval that is wider",
    [PLAIN, stream({ addedMs: { ...addedBy(42.3), p50: { value: 42.3, low: 34.4, high: 53.9 } } })],
    undefined,
  ],
  [
    "a slow gateway, whose gaps are short as all gaps are",
    [stream({ addedMs: addedBy(42), addedTtftMs: addedBy(22), addedGapMs: addedBy(0.4) })],
    undefined,
  ],
  ["everything comes 41 ms later: it may be slow", [overheadLevel({ addedMs: addedBy(41) })], undefined],
  [
    "the first token arrives only when the stream ends",
    [stream({ directMs: SMALL, throughMs: SMALL, ttftMs: { direct: 2, through: 29 } })],
    /Streams are buffered/,
  ],
  [
    "the first token comes late directly, too",
    [stream({ directMs: SMALL, throughMs: SMALL, ttftMs: { direct: 28, through: 29 } })],
    undefined,
  ],
  ["streams too short to tell", [stream({ ttftMs: { direct: 0.1, through: 1.3 } })], undefined],
  [
    "events are merged",
    [stream({ eventsPerRead: { direct: 1.1, through: 9.5 } })],
    /merged: 9\.5 arrive in one read, directly 1\.1/,
  ],
  [
    "it grows with the prompt",
    [PLAIN, overheadLevel({ promptBytes: 1_001_000, addedMs: addedBy(13) })],
    /adds 12\.0 ms per megabyte/,
  ],
  ["it grows within the intervals", [PLAIN, overheadLevel({ promptBytes: 11_000, addedMs: addedBy(1.1) })], undefined],
  [
    "what the upstream bounds proves nothing",
    [PLAIN, overheadLevel({ promptBytes: 1_001_000, addedMs: addedBy(13), upstreamBound: true })],
    undefined,
  ],
])("%s", (_, levels, says) => {
  const found = diagnose(levels);
  if (says === undefined) expect(found).toEqual([]);
  else expect(found).toEqual([expect.stringMatching(says)]);
});

import { expect, test } from "vitest";
import type { LoadExchange } from "../../../src/http/load-client/index.ts";
import { parseEventBound } from "../../../src/load/events/event-bound.ts";
import { eventFigures } from "../../../src/load/events/event-figures.ts";
import { type EventCounts, EventTally } from "../../../src/load/events/event-tally.ts";
import { judgeEvent } from "../../../src/load/events/judge/judge-events.ts";
import type { LoadEvent } from "../../../src/record/index.ts";

interface Sent {
  readonly dueS: number;
  readonly tookMs?: number;
  readonly stream?: boolean;
  readonly outcome?: "admitted" | "denied" | "failed" | "invalid" | "unfinished";
  readonly what?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Counts requests of a load with an event at 5 s. */
function counted(requests: readonly Sent[]): EventCounts[] {
  const tally = new EventTally([5]);
  for (const {
    dueS,
    tookMs = 20,
    stream = false,
    outcome = "admitted",
    what = "",
    status = 200,
    retryAfterMs,
  } of requests) {
    const exchange = {
      dueUs: dueS * 1e6,
      endUs: dueS * 1e6 + tookMs * 1e3,
      status,
      retryAfterWaitMs: retryAfterMs,
      prepared: { stream },
    } as LoadExchange;
    tally.ended(exchange, { outcome, what }, 0);
  }
  return tally.store();
}

/** Ten requests per second. @param change of a request by its time. */
function steady(untilS: number, change: (dueS: number) => Partial<Sent> = () => ({})): Sent[] {
  return Array.from({ length: untilS * 10 }, (_, index) => ({ dueS: index / 10, ...change(index / 10) }));
}

const EXECUTION = {
  ...{ action: "run x", startedS: 5, endedS: 6, succeeded: true, result: "exit code 0" },
  ...{ exitCode: 0, output: "", outputBytes: 0 },
};

function judged(requests: readonly Sent[], expect: Record<string, string | number>, windowS?: number) {
  const figures = eventFigures(counted(requests), [{ atS: 5, windowS, endedS: 1 }], { index: 0, isClosed: false });
  const event: LoadEvent = { name: "e", atS: 5, execution: EXECUTION, figures };
  const { recoveredWithinS, addedDelayS, ...bounds } = expect;
  const findings = judgeEvent(event, {
    ...Object.fromEntries(Object.entries(bounds).map(([name, text]) => [name, parseEventBound(text)])),
    ...(addedDelayS === undefined ? {} : { addedDelayS: Number(addedDelayS) }),
    ...(recoveredWithinS === undefined ? {} : { recoveredWithinS: Number(recoveredWithinS) }),
  });
  return {
    figures,
    outcomes: Object.fromEntries(findings.map(({ name, outcome }) => [name.slice("event.e.".length), outcome])),
    findings,
  };
}

const EXPECT = { failed: 0, retryable: "<= 100 %", truncatedStreams: 0, recoveredWithinS: 3 };
const ALL_MET = { failed: "met", retryable: "met", "truncated-streams": "met", recovered: "met" };
const streams = (of: readonly Sent[]) => of.map((one, index) => ({ stream: index % 2 === 0, ...one }));

test("nothing happens: everything is met", () => {
  const { outcomes, figures } = judged(streams(steady(30)), EXPECT);
  expect(outcomes).toMatchObject(ALL_MET);
  expect(figures).toMatchObject({ requests: 100, served: 100, recoveredS: 0, windowS: 10, before: { seconds: 5 } });
});

test.each([
  ["are served after the outage", { tookMs: 9_000 }, "broken"],
  [
    "are denied after it",
    { tookMs: 9_000, outcome: "failed", what: "503", status: 503, retryAfterMs: 1_000 },
    "broken",
  ],
  ["are a little slower", { tookMs: 900 }, "met"],
] as const)("requests that wait for an outage to end and then %s", (_, change, addedDelay) => {
  const { outcomes } = judged(
    steady(40, (dueS) => (dueS >= 6 && dueS < 8 ? change : {})),
    {
      failed: 0,
      retryable: "<= 100 %",
      addedDelayS: 5,
    },
  );
  expect(outcomes).toMatchObject({ failed: "met", "added-delay": addedDelay });
});

test.each([
  ["500 without Retry-After", { outcome: "failed", what: "500", status: 500 }, "met", "met"],
  ["an error event in a stream", { outcome: "unfinished", what: "error in the stream" }, "met", "met"],
  ["401", { outcome: "denied", what: "invalid_api_key", status: 401 }, "met", "met"],
  ["a page with status 200", { outcome: "invalid", what: "HTML page" }, "broken", "met"],
  ["a reset", { outcome: "failed", what: "reset", status: 0 }, "met", "broken"],
  ["no response in time", { outcome: "failed", what: "deadline", status: 0 }, "met", "broken"],
  ["a truncated stream", { outcome: "unfinished", what: "cut stream", stream: true }, "met", "broken"],
] as const)("who says that all may fail during an outage still notices %s", (_, change, invalid, incomplete) => {
  const { outcomes } = judged(
    steady(30, (dueS) => (dueS >= 6 && dueS < 8 ? change : {})),
    {
      failed: "<= 100 %",
      invalidReplies: 0,
      incompleteResponses: 0,
    },
  );
  expect(outcomes).toMatchObject({
    failed: "met",
    "invalid-replies": invalid,
    "incomplete-responses": incomplete,
  });
});

test.each([
  ["no connection", { outcome: "failed", what: "unreachable", status: 0 }, "failed"],
  ["a reply that is invalid", { outcome: "invalid", what: "HTML page" }, "failed"],
  ["503 without Retry-After", { outcome: "failed", what: "503", status: 503 }, "failed"],
  ["401", { outcome: "denied", what: "invalid_api_key", status: 401 }, "failed"],
  ["503 with Retry-After", { outcome: "failed", what: "503", status: 503, retryAfterMs: 1_000 }, "retryable"],
  [
    "429 with Retry-After",
    { outcome: "denied", what: "rate_limit_exceeded", status: 429, retryAfterMs: 0 },
    "retryable",
  ],
] as const)("two seconds of %s", (_, change, as) => {
  const { outcomes, figures } = judged(streams(steady(30, (dueS) => (dueS >= 6 && dueS < 8 ? change : {}))), EXPECT);
  expect(outcomes).toMatchObject({ ...ALL_MET, failed: as === "failed" ? "broken" : "met" });
  expect(figures).toMatchObject({ [as]: 20, recoveredS: 3 });
});

test("streams in flight at the event are counted there, by how they end", () => {
  const long = { dueS: 4.5, tookMs: 3_000, stream: true };
  const { figures, outcomes } = judged(
    [
      ...steady(30),
      long,
      { ...long, tookMs: 700, outcome: "unfinished", what: "cut stream" },
      { ...long, tookMs: 700, outcome: "unfinished", what: "error in the stream" },
      { ...long, tookMs: 700, outcome: "failed", what: "reset", status: 0 },
    ],
    { truncatedStreams: 0, interruptedStreams: "<= 1" },
  );
  expect(figures?.streams.inFlight).toEqual({ count: 4, finished: 1, interrupted: 1, truncated: 1, other: 1 });
  expect(outcomes).toMatchObject({ "truncated-streams": "broken", "interrupted-streams": "met" });
});

test.each([
  ["never", () => 1_000, "broken", null],
  ["too late", (dueS: number) => (dueS < 11 ? 1_000 : 20), "broken", 6],
  ["in time", (dueS: number) => (dueS < 7 ? 1_000 : 20), "met", 2],
])("latency is as before %s", (_, tookMs, outcome, recoveredS) => {
  const requests = steady(30, (dueS) => (dueS < 5 ? {} : { tookMs: tookMs(dueS) }));
  const { outcomes, figures } = judged(requests, { recoveredWithinS: 3 });
  expect(outcomes).toMatchObject({ recovered: outcome });
  expect(figures).toMatchObject({ recoveredS });
});

test("a load that ends soon after the event does not decide whether it recovers", () => {
  const { outcomes } = judged(
    steady(9, (dueS) => (dueS < 5 ? {} : { tookMs: 1_000 })),
    { recoveredWithinS: 3 },
  );
  expect(outcomes).toMatchObject({ recovered: "undecided" });
});

test.each([
  [
    100,
    0,
    "undecided",
    /0 of 100 requests failed \(0\.0 %\): too few requests to decide < 0\.1 %; about 3,\d{3} requests are needed/,
  ],
  [100, 5, "broken", undefined],
])("a share of %d requests with %d failures is %s", (_, failures, outcome, reason) => {
  const change = (dueS: number) =>
    dueS >= 5 && dueS < 5 + failures / 10 - 0.05 ? { outcome: "failed" as const, what: "500", status: 500 } : {};
  const { findings } = judged(steady(30, change), { failed: "< 0.1 %" }, 10);
  const [failed] = findings.filter(({ name }) => name.endsWith(".failed"));
  expect(failed?.outcome).toBe(outcome);
  if (reason !== undefined) expect(failed?.reason).toMatchObject({ text: expect.stringMatching(reason) });
});

test("without an action there is no verdict", () => {
  const figures = eventFigures(counted(steady(30)), [{ atS: 5, windowS: 10, endedS: 1 }], {
    index: 0,
    isClosed: false,
  });
  const outcomesOf = (event: Partial<LoadEvent>) =>
    judgeEvent({ name: "e", atS: 5, execution: EXECUTION, figures, ...event }, { failed: parseEventBound(0) }).map(
      ({ outcome }) => outcome,
    );
  expect(outcomesOf({})).toEqual(["met", "met"]);
  expect(outcomesOf({ execution: null, figures: null })).toEqual(["undecided", "undecided"]);
  expect(outcomesOf({ execution: { ...EXECUTION, succeeded: false } })).toEqual(["undecided", "undecided"]);
  expect(outcomesOf({ durationS: 2, undo: { ...EXECUTION, succeeded: false } })).toEqual([
    "undecided",
    "undecided",
    "broken",
  ]);
});

test("a bound that allows everything is not met by nothing", () => {
  const { outcomes } = judged(steady(30), { truncatedStreams: "<= 100 %", failed: "<= 100 %" }, 10);
  expect(outcomes).toMatchObject({ "truncated-streams": "undecided", failed: "met" });
});

test("a gateway that replies with garbage before and after the event has not recovered", () => {
  const garbage = (dueS: number): Partial<Sent> =>
    Math.round(dueS * 10) % 5 === 0 ? {} : { outcome: "invalid", what: "HTML page" };
  expect(judged(steady(30, garbage), { recoveredWithinS: 5 }).outcomes).toMatchObject({ recovered: "undecided" });
});

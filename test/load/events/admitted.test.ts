import { expect, test } from "vitest";
import { describeFacts } from "../../../reports/text/index.ts";
import type { LoadExchange } from "../../../src/http/load-client/index.ts";
import { parseRatioBound } from "../../../src/load/events/event-bound.ts";
import { eventFigures } from "../../../src/load/events/event-figures.ts";
import { EventTally } from "../../../src/load/events/event-tally.ts";
import { judgeEvent } from "../../../src/load/events/judge/judge-events.ts";
import type { LoadEvent } from "../../../src/record/index.ts";

const LIMIT = 300;
const EVENT_S = 125;
const OUTAGE_S = 20;
const ENDS_S = 200;

type Ended = "admitted" | "denied" | "garbage" | "hangs" | "cut" | "unavailable";

/** Decides on a request at a time, s. */
type Limiter = (atS: number) => boolean;

const slidingLog = (limit = LIMIT): Limiter => {
  let admitted: number[] = [];
  return (atS) => {
    admitted = admitted.filter((one) => one > atS - 60);
    if (admitted.length >= limit) return false;
    admitted.push(atS);
    return true;
  };
};

/** @param phaseS when a minute begins. */
const fixedWindow =
  (phaseS: number, counts = new Map<number, number>()): Limiter =>
  (atS) => {
    const minute = Math.floor((atS - phaseS) / 60);
    const count = counts.get(minute) ?? 0;
    counts.set(minute, count + 1);
    return count < LIMIT;
  };

/** The first bucket is full. */
const tokenBucket = (size: number, tokens = size): Limiter => {
  let [left, seenS] = [tokens, 0];
  return (atS) => {
    left = Math.min(size, left + ((atS - seenS) * LIMIT) / 60);
    seenS = atS;
    if (left < 1) return false;
    left--;
    return true;
  };
};

/** What happens to requests in the outage, if it is not that they are denied. */
interface Gateway {
  readonly limiter: Limiter;
  readonly during?: (atS: number) => Ended;
  /** From the end of the outage on. */
  readonly afterwards?: Limiter;
}

const FACTS: Readonly<
  Record<
    Ended,
    readonly [outcome: "admitted" | "denied" | "failed" | "invalid" | "unfinished", what: string, status: number]
  >
> = {
  admitted: ["admitted", "", 200],
  denied: ["denied", "rate_limit_exceeded", 429],
  garbage: ["invalid", "not JSON", 200],
  hangs: ["failed", "deadline", 0],
  cut: ["unfinished", "cut stream", 200],
  unavailable: ["failed", "503", 503],
};

interface Load {
  readonly perS?: number;
  readonly eventS?: number;
  readonly endsS?: number;
  readonly bound?: string;
}

function judged(
  { limiter, during, afterwards }: Gateway,
  { perS = 20, eventS = EVENT_S, endsS = ENDS_S, bound = "<= 130 %" }: Load = {},
) {
  const tally = new EventTally([eventS]);
  for (let index = 0; index < perS * endsS; index++) {
    const atS = index / perS;
    const isOut = atS >= eventS && atS < eventS + OUTAGE_S;
    const decide = atS >= eventS + OUTAGE_S ? (afterwards ?? limiter) : limiter;
    const ended = isOut ? (during?.(atS) ?? "unavailable") : decide(atS) ? "admitted" : "denied";
    const [outcome, what, status] = FACTS[ended];
    const exchange = {
      dueUs: atS * 1e6,
      endUs: atS * 1e6 + 300e3,
      status,
      retryAfterWaitMs: 1_000,
      prepared: { stream: ended === "cut" },
    };
    tally.ended(exchange as LoadExchange, { outcome, what }, 0);
  }
  const figures = eventFigures(tally.store(), [{ atS: eventS, windowS: 60, endedS: OUTAGE_S }], {
    index: 0,
    isClosed: false,
  });
  const execution = {
    action: "run x",
    startedS: eventS,
    endedS: eventS,
    succeeded: true,
    result: "exit code 0",
    exitCode: 0,
    output: "",
    outputBytes: 0,
  };
  const event: LoadEvent = { name: "e", atS: eventS, execution, figures };
  const admitted = parseRatioBound(bound);
  const [, finding] = judgeEvent(event, { admitted });
  return { outcome: finding?.outcome, text: finding === undefined ? "" : describeFacts(finding) };
}

const phases = [0, 7, 20, 35, 50];

test.each<readonly [string, () => Gateway]>([
  ["a sliding log", () => ({ limiter: slidingLog() })],
  ["a token bucket", () => ({ limiter: tokenBucket(LIMIT) })],
  ["a small token bucket", () => ({ limiter: tokenBucket(20) })],
  ...phases.map((at) => [`fixed minutes that begin at ${at} s`, () => ({ limiter: fixedWindow(at) })] as const),
  [
    "limits that also apply in the outage",
    () => {
      const limiter = slidingLog();
      return { limiter, during: (atS: number) => (limiter(atS) ? "admitted" : "denied") };
    },
  ],
])("%s keeps its limit", (_name, gateway) => {
  expect(judged(gateway())).toMatchObject({ outcome: "met" });
});

test.each<readonly [string, () => Gateway]>([
  ["serves everything in the outage", () => ({ limiter: slidingLog(), during: () => "admitted" })],
  [
    "serves everything in the outage, with a token bucket",
    () => ({ limiter: tokenBucket(LIMIT), during: () => "admitted" }),
  ],
  ...phases.map(
    (at) =>
      [
        `serves everything in the outage, with fixed minutes at ${at} s`,
        () => ({ limiter: fixedWindow(at), during: () => "admitted" as const }),
      ] as const,
  ),
  ["counts twice as much afterwards", () => ({ limiter: slidingLog(), afterwards: slidingLog(2 * LIMIT) })],
  ["has no limit afterwards", () => ({ limiter: slidingLog(), afterwards: () => true })],
  [
    "forgets what was counted in each of two replicas",
    () => ({ limiter: tokenBucket(LIMIT), afterwards: tokenBucket(2 * LIMIT) }),
  ],
])("a gateway that %s does not", (_name, gateway) => {
  const { outcome, text } = judged(gateway());
  expect(outcome, text).toBe("broken");
  expect(text).toMatch(
    /\d+ of 1,200 requests admitted in 60 s, \d+ % of the number before \(95 % interval \d+ % to \d+ %; \d+ in 60 s\)/,
  );
});

test.each<readonly [string, Gateway, Load, RegExp]>([
  [
    "sends garbage in the outage",
    { limiter: slidingLog(), during: () => "garbage" },
    {},
    /400 requests got an unusable or incomplete response, or none/,
  ],
  [
    "hangs in the outage",
    { limiter: slidingLog(), during: () => "hangs" },
    {},
    /400 requests got an unusable or incomplete response, or none/,
  ],
  [
    "truncates streams in the outage",
    { limiter: slidingLog(), during: () => "cut" },
    {},
    /400 requests got an unusable or incomplete response, or none/,
  ],
  [
    "denies everything afterwards",
    { limiter: slidingLog(), afterwards: () => false },
    {},
    /a gateway that admits nothing does not show/,
  ],
  ["denies everything", { limiter: () => false }, {}, /nothing was admitted before the first event/],
  ["has no limit", { limiter: () => true }, {}, /no request was denied by a limit before the first event/],
])("a gateway that %s is undecided", (_name, gateway, load, why) => {
  const { outcome, text } = judged(gateway, load);
  expect(outcome).toBe("undecided");
  expect(text).toMatch(why);
});

test.each<readonly [string, Load, RegExp]>([
  [
    "begins too soon after the first denial",
    { eventS: 70 },
    /only \d+ s passed between the first denial and the first event/,
  ],
  ["ends too soon", { endsS: 180 }, /less than 60 s passed between the event and the next one, or the end of the load/],
  [
    "exceeds the limit too little",
    { perS: 6 },
    /too few requests: 360 were sent in 60 s, and \d+ admitted in 60 s before the event\. .* Send at least 12 requests\/s\./,
  ],
  [
    "has a bound close to what is seen",
    { bound: "<= 105 %" },
    /too few requests to decide <= 105 %; about \d+ times as many are needed/,
  ],
])("a load that %s decides nothing", (_name, load, why) => {
  const { outcome, text } = judged({ limiter: slidingLog() }, load);
  expect(outcome).toBe("undecided");
  expect(text).toMatch(why);
});

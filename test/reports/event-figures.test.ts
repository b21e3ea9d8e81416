import { expect, test } from "vitest";
import { figureTexts } from "../../reports/figures/event-figures.ts";
import type { EventFigures, LoadEvent } from "../../src/record/index.ts";

const ACTION = {
  action: "run ./stop.sh",
  succeeded: true,
  result: "exit code 0",
  exitCode: 0,
  output: "",
  outputBytes: 0,
};
const second = (at: number, served: number, retryable = 0, failed = 0) => ({
  ...{ second: at, due: 4, served, retryable, failed, p50Ms: null, p95Ms: null },
});

/** An event at 20 s that took 0.4 s, undone after 5.3 s. @param outcome how each request ended while it lasted. */
function outage(
  outcome: "served" | "retryable" | "failed" | "dropped",
  changed: Partial<LoadEvent> = {},
  limit?: EventFigures["limit"],
): string[] {
  const during = (at: number) =>
    second(
      at,
      ...(["served", "retryable", "failed"].map((name) => (name === outcome ? 4 : 0)) as [number, number, number]),
    );
  const figures: EventFigures = {
    ...{ windowS: 10, requests: 40, served: 40, retryable: 0, failed: 0, kinds: [], longestMs: 0 },
    streams: {
      ...{ count: 0, interrupted: 0, truncated: 0 },
      inFlight: { count: 0, finished: 0, interrupted: 0, truncated: 0, other: 0 },
    },
    ...{ before: null, recoveredS: null, observedS: 10 },
    ...(limit && { limit }),
    // The store stops within the first second and starts within the sixth: neither belongs to the outage alone.
    seconds: [second(0, 0, 0, 4), ...[1, 2, 3, 4].map(during), second(5, 0, 0, 4), second(6, 4)],
  };
  const execution = { ...ACTION, startedS: 20, endedS: 20.4 };
  const undo = { ...ACTION, startedS: 25.3, endedS: 25.6 };
  const texts = figureTexts({ name: "e", atS: 20, durationS: 5, execution, undo, figures, ...changed });
  return texts.filter((text) => text.startsWith("while it lasted"));
}

test.each([
  ["served", "16 served, 0 denied with Retry-After, 0 failed"],
  ["retryable", "0 served, 16 denied with Retry-After, 0 failed"],
  ["failed", "0 served, 0 denied with Retry-After, 16 failed"],
  ["dropped", "0 served, 0 denied with Retry-After, 0 failed, 16 not sent"],
] as const)("requests that were due while an event lasted: %s", (outcome, ends) => {
  expect(outage(outcome)).toEqual([`while it lasted, 16 requests in 4 s: ${ends}`]);
});

test.each<readonly [string, "retryable" | "served", number, string, number]>([
  ["denied", "retryable", 20, "it failed closed", 0],
  ["served, and no more in a minute than before", "served", 100, "limits still applied", 0],
  ["served, and much more in a minute than before", "served", 240, "it failed open", 0],
  ["served, and some unusable replies may have been admitted", "served", 100, "limits still applied", 20],
  ["served, and so many are unusable that more may have been admitted", "served", 100, "", 100],
  ["not served, but some get unusable replies", "retryable", 20, "", 1],
])(
  "what a gateway at its limit does while an event lasts: requests are %s",
  (_name, outcome, admitted, mode, unclear) => {
    const limit = {
      deniedBefore: 500,
      limitedS: 80,
      beforeS: 60,
      admittedBefore: 120,
      windowS: 60,
      sent: 240,
      unclear,
    };
    const [text] = outage(outcome, {}, { ...limit, admitted });
    expect(text).toMatch(new RegExp(`, 0 failed${mode === "" ? "" : `: ${mode}`}$`));
  },
);

test("an event that was not executed, or was undone within the second, did not last", () => {
  expect(outage("served", { undo: { ...ACTION, startedS: 20.9, endedS: 21 } })).toEqual([]);
  expect(outage("served", { execution: null })).toEqual([]);
});

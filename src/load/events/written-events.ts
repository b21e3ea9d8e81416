import * as z from "zod";
import { ACTION_KINDS, actionSchema, actionShape, optional, resolveAction } from "../../target/index.ts";
import { planOf } from "../schedule/arrivals.ts";
import { type arrivalsSchema, writtenKindOf } from "../schedule/written-arrivals.ts";
import type { EventAction, EventExpectations, WorkloadEvent } from "./event.ts";
import { BOUND_FORM, parseEventBound, parseRatioBound, RATIO_FORM } from "./event-bound.ts";
import { MINUTE_S } from "./limit-figures.ts";

/** Longest time after an event in which its requests are counted by the second, s. */
const MAX_WINDOW_S = 600;

const TIME = /^(\d+(?:\.\d+)?)(ms|s|m)$/;
const MS = { ms: 1, s: 1_000, m: 60_000 } as const;

const time = z.union([z.number().positive(), z.string().regex(TIME, 'must be a time such as "20s", "500ms" or "2m"')]);

const bound = z
  .union([z.string(), z.number()])
  .refine((written) => parseEventBound(written) !== undefined, { message: BOUND_FORM });

const ratio = z.string().refine((written) => parseRatioBound(written) !== undefined, { message: RATIO_FORM });

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, "must be letters, digits and dashes");
const named = optional(name, "Name of an action under disturb in the target file.");

/** The fields that say what an event does. */
const KINDS = [...ACTION_KINDS, "disturb"] as const;

const eventSchema = z
  .strictObject({
    name,
    at: time.meta({ description: 'Time after the start of the measurement: "20s", "2m", or seconds.' }),
    ...actionShape,
    disturb: named,
    after: optional(
      z.union([actionSchema, z.strictObject({ disturb: name })]),
      "Undoes the event after durationS, or at the end of the load, even if the load fails or is interrupted.",
    ),
    durationS: optional(z.number().positive(), "Seconds until the event is undone by `after`."),
    windowS: optional(
      z.number().positive().max(MAX_WINDOW_S),
      "Seconds in which requests are judged by the expectations; default: until the gateway has recovered and the event is over, at least 10 and at most 60.",
    ),
    expect: optional(
      z.strictObject({
        failed: optional(bound, 'Requests without a usable reply: "< 0.1 %" of them, or a number.'),
        retryable: optional(bound, "Requests denied with 429, 502, 503, 504 or 529 and a usable Retry-After."),
        invalidReplies: optional(bound, "2xx responses that no client can use."),
        incompleteResponses: optional(
          bound,
          "Requests without a complete response: no connection, a reset, a timeout, a truncated reply or stream.",
        ),
        truncatedStreams: optional(bound, "Streams that stop before their final event and without an error event."),
        interruptedStreams: optional(bound, "Streams that end with an error event."),
        admitted: optional(
          ratio,
          'Requests admitted since the event, compared with before: "<= 120 %". The load must exceed the account\'s limit.',
        ),
        cpuPerRequest: optional(
          ratio,
          'CPU time of the gateway for a request, compared with before: "<= 3x". Needs processes.pidFiles in the target file.',
        ),
        logBytesPerRequest: optional(
          ratio,
          'Bytes that the gateway logs for a request, compared with before: "<= 5x". Needs processes.logs in the target file.',
        ),
        capacityLeaked: optional(
          z.literal(0),
          "After the load, Gauntlet opens as many streams as the account's concurrency limit allows (`limits` in the target file); all of them must be admitted.",
        ),
        addedDelayS: optional(
          z.number().positive(),
          "Seconds by which the longest response time in the window may exceed the p95 before the first event.",
        ),
        recoveredWithinS: optional(
          z.number().positive(),
          "Seconds until outcomes and latency have recovered, from the start of the event, or of `after` if durationS is set.",
        ),
      }),
      "What clients may notice. A violation fails the load.",
    ),
  })
  .superRefine((event, context) => {
    const given = KINDS.filter((kind) => event[kind] !== undefined);
    if (given.length !== 1)
      context.addIssue({
        code: "custom",
        message: `expected exactly one of ${KINDS.join(", ")}; found ${given.length === 0 ? "none" : given.join(" and ")}`,
        path: given.length > 1 ? [given[1] ?? ""] : [],
      });
    if (event.durationS !== undefined && event.after === undefined)
      context.addIssue({
        code: "custom",
        message: "needs `after`, which ends the event after this time",
        path: ["durationS"],
      });
  });

export const eventsSchema = z.array(eventSchema).min(1).max(20);

type WrittenEvent = z.infer<typeof eventSchema>;
type ArrivalsFile = z.infer<typeof arrivalsSchema>;

function secondsOf(written: string | number): number {
  if (typeof written === "number") return written;
  const [, digits = "", unit = "s"] = TIME.exec(written) ?? [];
  return (Number(digits) * MS[unit as keyof typeof MS]) / 1_000;
}

interface Problem {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** What is wrong with the times and names of events. */
export function eventProblems(events: readonly WrittenEvent[], arrivals: ArrivalsFile, warmupS: number): Problem[] {
  const lastsS = plannedS(arrivals, warmupS);
  const problems: Problem[] = [];
  const firstS = Math.min(...events.map(({ at }) => secondsOf(at)));
  for (const [index, { name: of, at, durationS = 0, expect }] of events.entries()) {
    const endS = secondsOf(at) + durationS;
    if (expect?.admitted !== undefined) {
      const path = [index, "expect", "admitted"];
      if (firstS <= MINUTE_S)
        problems.push({
          message: `needs at least ${MINUTE_S} s at the limit before the first event, but that event is at ${firstS} s. Schedule it later`,
          path,
        });
      if (lastsS !== undefined && lastsS <= secondsOf(at) + MINUTE_S)
        problems.push({
          message: `needs more than ${MINUTE_S} s of load after the event at ${secondsOf(at)} s, but the measurement lasts only ${lastsS} s`,
          path,
        });
    }
    if (lastsS !== undefined && endS >= lastsS)
      problems.push({
        message: `${durationS === 0 ? "is" : "plus durationS is"} ${endS} s after the start of the measurement, but the measurement lasts only ${lastsS} s`,
        path: [index, "at"],
      });
    const before = events.findIndex((other) => other.name === of);
    if (before < index) problems.push({ message: `duplicates the name of event ${before + 1}`, path: [index, "name"] });
  }
  return problems;
}

/** Seconds that are measured; `undefined` if a number of requests ends the load, or a trace. */
function plannedS(arrivals: ArrivalsFile, warmupS: number): number | undefined {
  const kind = writtenKindOf(arrivals);
  if (arrivals.kind === "replay" || arrivals.kind === "sessions") return undefined;
  const resolved = kind.resolve(arrivals, (file) => file);
  const { durationS } = planOf(resolved);
  return durationS === undefined ? undefined : resolved.kind === "closed" ? durationS : durationS - warmupS;
}

/** @param file the workload file, from which relative paths are resolved. @returns events in the order of their times. */
export function resolveEvents(written: readonly WrittenEvent[], file: string): WorkloadEvent[] {
  return written
    .map((event): WorkloadEvent => {
      const { at, disturb, after, durationS, windowS, expect, run, signal, http, timeoutS } = event;
      return {
        name: event.name,
        atS: secondsOf(at),
        action: actionOf(disturb === undefined ? { run, signal, http, timeoutS } : { disturb, timeoutS }, file),
        after: after === undefined ? undefined : actionOf(after, file),
        durationS,
        windowS,
        expect: expectationsOf(expect),
      };
    })
    .sort((a, b) => a.atS - b.atS);
}

function actionOf(
  written: z.infer<typeof actionSchema> | { readonly disturb: string; readonly timeoutS?: number | undefined },
  file: string,
): EventAction {
  if (typeof written !== "object" || !("disturb" in written)) return resolveAction(written, file);
  const { disturb: name, timeoutS } = written;
  return { kind: "named", name, ...(timeoutS !== undefined && { timeoutMs: timeoutS * 1_000 }) };
}

function expectationsOf(written: WrittenEvent["expect"] = {}): EventExpectations {
  const { failed, retryable, truncatedStreams, interruptedStreams, recoveredWithinS } = written;
  const {
    invalidReplies,
    incompleteResponses,
    admitted,
    cpuPerRequest,
    logBytesPerRequest,
    capacityLeaked,
    addedDelayS,
  } = written;
  const boundOf = (given: string | number | undefined) => (given === undefined ? undefined : parseEventBound(given));
  const ratioOf = (given: string | undefined) => (given === undefined ? undefined : parseRatioBound(given));
  return {
    failed: boundOf(failed),
    retryable: boundOf(retryable),
    invalidReplies: boundOf(invalidReplies),
    incompleteResponses: boundOf(incompleteResponses),
    truncatedStreams: boundOf(truncatedStreams),
    interruptedStreams: boundOf(interruptedStreams),
    admitted: ratioOf(admitted),
    cpuPerRequest: ratioOf(cpuPerRequest),
    logBytesPerRequest: ratioOf(logBytesPerRequest),
    capacityLeaked,
    addedDelayS,
    recoveredWithinS,
  };
}

/** The events of a workload as in its file, or in the record of a run; anything else has none. */
export function readEventExpectations(written: unknown): ReadonlyMap<string, EventExpectations> {
  const parsed = z.looseObject({ events: z.array(eventSchema) }).safeParse(written);
  return new Map((parsed.data?.events ?? []).map(({ name: of, expect }) => [of, expectationsOf(expect)]));
}

import { loadGrid, loadMutation, type Mutation } from "../../change.ts";
import { cutOff, dropsConnection } from "../../edits/connection-edits.ts";
import { html, insteadOf, status } from "../../edits/replies/response-edits.ts";
import { inBlocksOf, laterFrom } from "../../edits/replies/stream-edits.ts";
import {
  both,
  crowded,
  every,
  inference,
  nonStreaming,
  onChat,
  once,
  remembered,
  reused,
  streaming,
  type When,
} from "../../edits/when.ts";
import { all, endingAs, onDenial, onServed, onSteps, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";

const SPORADIC = ["STEADY-SERVICE"];
/** A run of a thousand valid requests may or may not show that more than 0.5 % of them fail. */
const IF_PROVEN = ["BASE-3"];

/** The gateway received no request for this many seconds. */
function afterSilence(seconds: number): When {
  const last = remembered(() => ({ us: Number.NEGATIVE_INFINITY }));
  return once((call) => {
    if (!inference(call)) return false;
    const nowUs = call.services.clock.monotonicUs();
    const isLate = nowUs - last(call).us > seconds * 1_000_000;
    last(call).us = nowUs;
    return isLate;
  });
}

/** The previous request on this connection is this old, microseconds. */
function rested(us: number): When {
  const arrivals = remembered(() => new Map<number, number>());
  return once((call) => {
    const { connection, arrivedUs } = call.arrival;
    const before = arrivals(call).get(connection.id);
    arrivals(call).set(connection.id, arrivedUs);
    return before !== undefined && arrivedUs - before > us;
  });
}

/** Errors and dropped connections that occur with many requests. */
export const BUSY_MUTATIONS: readonly Mutation[] = [
  loadMutation("load.500-now-and-then", {
    breaks: SPORADIC,
    summary: "One request in a hundred gets 500.",
    apply: onServed(every(100), insteadOf("internal_error")),
    mayBreak: IF_PROVEN,
  }),
  loadMutation("load.502-page-now-and-then", {
    breaks: SPORADIC,
    summary: "One request in eighty gets a proxy's HTML page with 502.",
    apply: onServed(every(80), (response, call) => status(502)(html("502 Bad Gateway")(response, call), call)),
    mayBreak: IF_PROVEN,
  }),
  loadMutation("load.503-when-half-full", {
    breaks: ["LIMIT-CONC-2", ...SPORADIC, "BASE-3", "LIMIT-CONC-1", "ERR-429-CONC"],
    summary: "Above half of the concurrency limit, requests get 503.",
    apply: onServed(
      (call) =>
        inference(call) && (call.key?.account.concurrency.held ?? 0) > (call.key?.account.limits.inFlight ?? 0) / 2,
      insteadOf("upstream_error", { status: 503 }),
    ),
    mayBreak: ["LIMIT-CONC-4", "LIMIT-CONC-5"],
  }),
  loadMutation("load.unknown-model-503-when-full", {
    breaks: ["ERR-404-MODEL"],
    summary: "At the concurrency limit, an unknown model gets 503.",
    apply: onDenial(
      "model_not_found",
      ({ key }) => key !== undefined && key.account.concurrency.held >= key.account.limits.inFlight,
      insteadOf("upstream_error", { status: 503 }),
    ),
    mayBreak: ["ERR-429-CONC"],
    shownBy: "checks",
  }),
  loadMutation("load.502-after-silence", {
    // Not a MUST: the specification has a row for a single 5xx, and the next request is served.
    breaks: ["STEADY-SERVICE"],
    summary: "The first request after ten idle seconds gets 502: the gateway's connections went stale.",
    apply: onServed(afterSilence(10), insteadOf("upstream_error", { status: 502 })),
  }),
  ...loadGrid(["HTTP-KEEP-ALIVE", ...SPORADIC], (when: When) => dropsConnection(when, "reset"), {
    "load.resets-now-and-then": {
      breaks: SPORADIC,
      summary: "One connection in sixty is reset instead of getting a response.",
      with: every(60),
      mayBreak: IF_PROVEN,
    },
    "load.connections-worn-out": {
      summary: "A connection is reset on its twentieth request.",
      with: (call: Call) => inference(call) && call.arrival.connection.served % 20 === 19,
      mayBreak: IF_PROVEN,
    },
    "load.resets-rested-connections": {
      summary: "A connection that was idle for more than two seconds is reset on its next request.",
      with: rested(2_000_000),
      mayBreak: IF_PROVEN,
    },
  }),
  loadMutation("load.resets-reused-connections", {
    breaks: SPORADIC,
    summary: "Every fortieth request on a reused connection is dropped.",
    apply: dropsConnection(every(40, both(inference, reused))),
    mayBreak: IF_PROVEN,
  }),
  loadMutation("load.resets-when-busy", {
    breaks: ["LIMIT-CONC-2", "LIMIT-CONC-7", "LIMIT-CONC-1"],
    summary: "Above three quarters of the concurrency limit, new requests are reset.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      const { key } = call;
      const busy =
        key !== undefined &&
        inference(call) &&
        call.refused === undefined &&
        key.account.concurrency.held > (key.account.limits.inFlight * 3) / 4;
      if (busy) cutOff(delivery, "reset");
      else next(parcel, call, delivery);
    }),
    mayBreak: ["LIMIT-CONC-4", "LIMIT-CONC-5", "STREAM-2"],
  }),
  loadMutation("load.replies-cut-now-and-then", {
    breaks: ["CHAT-2", "HTTP-FRAMING"],
    summary: "One non-streaming reply in fifty is truncated.",
    apply: wrap("deliver", (next) => {
      const unlucky = every(50, both(inference, nonStreaming));
      return (parcel, call, delivery) => {
        if (!unlucky(call) || parcel.body.kind !== "whole") {
          next(parcel, call, delivery);
          return;
        }
        const steps = [{ atMs: 0, bytes: parcel.body.bytes.subarray(0, parcel.body.bytes.length >> 1), tokens: 0 }];
        next({ ...parcel, body: { kind: "steps", steps, ending: "abort" } }, call, delivery);
      };
    }),
  }),
  loadMutation("load.streams-stall-when-busy", {
    breaks: ["STREAM-3", "STEADY-LATENCY"],
    summary: "With more than eight requests in flight, streams stall for six seconds halfway.",
    apply: onSteps(both(streaming, crowded(9)), (steps) => laterFrom(steps.length >> 1, 6_000, steps)),
  }),
  loadMutation("load.streams-cut-when-busy", {
    breaks: ["HTTP-FRAMING", "STREAM-3", "STREAM-4", "LIMIT-CONC-7"],
    summary: "With more than eight requests in flight, every third stream is cut off halfway.",
    apply: (() => {
      const unlucky = every(3, both(streaming, crowded(9)));
      return all(
        onSteps(unlucky, (steps) => steps.slice(0, steps.length >> 1)),
        endingAs("abort", unlucky),
      );
    })(),
  }),
  loadMutation("load.streams-buffered-when-busy", {
    breaks: ["STREAM-1"],
    summary: "With more than eight requests in flight, streams go through a 16 KB buffer.",
    apply: onSteps(both(onChat, streaming, crowded(9)), (steps) => inBlocksOf(16_384, steps)),
  }),
  loadMutation("load.pieces-lost-when-busy", {
    breaks: ["STREAM-4"],
    summary: "With more than eight requests in flight, streams lose their fourth event.",
    apply: onSteps(both(streaming, crowded(9)), (steps) => steps.filter((_step, index) => index !== 3)),
    mayBreak: ["COMPAT-TOOLS"],
  }),
];

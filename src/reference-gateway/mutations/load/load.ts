import { loadGrid, loadMutation, type Mutation } from "../../change.ts";
import { delays } from "../../edits/connection-edits.ts";
import {
  both,
  crowded,
  every,
  inference,
  onMessages,
  remembered,
  reused,
  streaming,
  type When,
} from "../../edits/when.ts";
import { type Apply, all, wrap } from "../../edits/wrap.ts";
import type { InferenceRequest } from "../../pipeline/read/inference-request.ts";
import { lastUserText, userTurn } from "../../pipeline/read/inference-request.ts";

const CROSSED = ["CHAT-2", "STREAM-4", "OWN-ANSWER"];

/** Each request waits longer than the previous one. */
const growing = (when: When, msPerRequest: number): Apply => {
  const served = remembered(() => ({ count: 0 }));
  return wrap("seal", (next) => (response, call) => {
    const parcel = next(response, call);
    if (!when(call)) return parcel;
    served(call).count += 1;
    return { ...parcel, afterMs: parcel.afterMs + served(call).count * msPerRequest };
  });
};

/** From time to time everything stalls. */
const stalls = (everyMs: number, forMs: number): Apply => {
  const begun = remembered(() => performance.now());
  return wrap("seal", (next) => (response, call) => {
    const parcel = next(response, call);
    const phaseMs = (performance.now() - begun(call)) % everyMs;
    const restMs = phaseMs > everyMs - forMs ? everyMs - phaseMs : 0;
    return { ...parcel, afterMs: parcel.afterMs + restMs };
  });
};

/** Delays every response within a period, in seconds after the first request. */
const slowBetween = (fromS: number, untilS: number, byMs: number): Apply => {
  const begun = remembered(() => performance.now());
  const isSlow: When = (call) => {
    const atS = (performance.now() - begun(call)) / 1_000;
    return atS >= fromS && atS < untilS;
  };
  return delays(isSlow, () => byMs);
};

/** Concurrent requests get each other's responses. */
const crossed = (when: When): Apply => {
  const last = remembered<{ request: InferenceRequest | undefined }>(() => ({ request: undefined }));
  return wrap("plan", (next) => (model, request, call) => {
    const other = last(call).request;
    last(call).request = request;
    return next(model, other !== undefined && when(call) ? { ...request, turns: other.turns } : request, call);
  });
};

/** The same with text before the last turn, which models repeat. */
const opened = (request: InferenceRequest, opening: string): InferenceRequest => ({
  ...request,
  turns: [...request.turns.slice(0, -1), userTurn(opening + lastUserText(request))],
});

/** Defects that only many requests, or many concurrent ones, reveal. */
export const LOAD_MUTATIONS: readonly Mutation[] = [
  ...loadGrid(CROSSED, crossed, {
    "load.answers-crossed": {
      summary: "With four requests in flight, a reply may be that of the previous request.",
      with: crowded(4),
      mayBreak: ["SPEND-6"],
    },
    "load.streams-crossed": {
      summary: "With four requests in flight, a stream may be that of the previous request.",
      with: both(streaming, crowded(4)),
      mayBreak: ["SPEND-6"],
    },
    "load.answers-crossed-on-reused-connections": {
      summary: "With eight requests in flight, a reply on a reused connection may be another request's.",
      with: both(reused, crowded(8)),
    },
  }),
  loadMutation("load.answer-of-abandoned-request", {
    breaks: CROSSED,
    summary: "After a client disconnects mid-reply, the next request gets that client's reply.",
    apply: (() => {
      const left = remembered<{ request: InferenceRequest | undefined }>(() => ({ request: undefined }));
      return all(
        wrap("ended", (next) => (call, closing) => {
          if (closing.outcome === "interrupted") left(call).request = call.request;
          next(call, closing);
        }),
        wrap("plan", (next) => (model, request, call) => {
          const other = left(call).request;
          left(call).request = undefined;
          return next(model, other === undefined ? request : { ...request, turns: other.turns }, call);
        }),
      );
    })(),
  }),
  loadMutation("load.abandoned-text-opens-next", {
    // Not OWN-ANSWER: nothing shows which request the words belong to.
    breaks: ["STREAM-4", "TEXT-INTACT"],
    summary: "After a client disconnects mid-reply, the next reply begins with the unread words.",
    apply: (() => {
      const left = remembered(() => ({ text: "" }));
      return all(
        wrap("ended", (next) => (call, closing) => {
          if (closing.outcome === "interrupted") left(call).text = "and so it went on until the evening. ";
          next(call, closing);
        }),
        wrap("plan", (next) => (model, request, call) => {
          const opening = left(call).text;
          left(call).text = "";
          return next(model, opening === "" ? request : opened(request, opening), call);
        }),
      );
    })(),
  }),
  loadMutation("load.text-leaks-into-next", {
    breaks: CROSSED,
    summary: "With six requests in flight, a reply begins with the last word of another prompt.",
    apply: (() => {
      const last = remembered(() => ({ text: "" }));
      return wrap("plan", (next) => (model, request, call) => {
        const before = last(call).text.split(" ").at(-1) ?? "";
        last(call).text = lastUserText(request);
        if (!crowded(6)(call)) return next(model, request, call);
        return next(model, opened(request, `${before} `), call);
      });
    })(),
  }),
  loadMutation("load.latency-grows", {
    breaks: ["STEADY-LATENCY"],
    summary: "Every request takes a millisecond longer than the one before.",
    apply: growing(inference, 1),
  }),
  ...loadGrid(["STEADY-LATENCY"], (when: When) => growing(when, 2), {
    "load.latency-grows-for-streams": {
      summary: "Every stream begins two milliseconds later than the one before.",
      with: streaming,
    },
    "load.messages-slower-each-time": {
      summary: "Every request on the messages endpoint takes two milliseconds longer than the one before.",
      with: onMessages,
    },
  }),
  loadMutation("load.world-stops", {
    breaks: ["STEADY-LATENCY"],
    summary: "For two seconds in every fifteen, the gateway does not respond.",
    apply: stalls(15_000, 2_000),
    shownBy: ["longPause"],
  }),
  loadMutation("load.short-stops", {
    breaks: ["STEADY-LATENCY"],
    summary: "For half a second in every five, the gateway does not respond.",
    apply: stalls(5_000, 500),
    shownBy: ["longPause"],
  }),
  loadMutation("load.slow-for-a-while", {
    breaks: ["STEADY-LATENCY"],
    summary: "From 30 s to 50 s after the first request, every response takes three seconds longer.",
    apply: slowBetween(30, 50, 3_000),
    shownBy: "checks",
  }),
  loadMutation("load.slow-every-hundredth", {
    breaks: ["STEADY-LATENCY"],
    summary: "Every hundredth request takes three seconds longer.",
    apply: delays(every(100), () => 3_000),
  }),
  loadMutation("load.slow-on-reused-connections", {
    breaks: ["STEADY-LATENCY"],
    summary: "Requests on a reused connection take 40 ms longer, as with Nagle and delayed ACKs.",
    apply: delays(both(reused, inference), () => 40),
  }),
  loadMutation("load.retry-after-herd", {
    breaks: ["LIMIT-RATE-6"],
    summary:
      "The Retry-After of every rate denial points to the next full ten seconds of the clock, whenever the limit admits a request again.",
    apply: wrap(
      "retryAfter",
      (next) => (refused, call) =>
        refused.reason === "rate_limit_exceeded"
          ? String(10 - (Math.floor(Date.now() / 1_000) % 10))
          : next(refused, call),
    ),
    shownBy: ["limits"],
  }),
];

import { sleep } from "../../core/index.ts";
import { loadMutation, type Mutation } from "../change.ts";
import { cutOff } from "../edits/connection-edits.ts";
import { isAtConcurrencyLimit } from "../edits/limit-scopes.ts";
import {
  always,
  both,
  every,
  modelIs,
  nonStreaming,
  remembered,
  reused,
  secondKey,
  streaming,
  type When,
} from "../edits/when.ts";
import { type Apply, all, onDenial, overlook, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Closing } from "../pipeline/outcome.ts";
import { refusal } from "../pipeline/refusal.ts";

const TOO_MANY = ["LIMIT-CONC-2"];
/** What a leaked lease takes is missing when the limit is reached the next time. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

/** Some requests count as in flight for ever. */
const leaks = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("release", (next) => (call, closing) => {
    if (!when(call, closing)) next(call, closing);
  });

const sinceArrivalMs = (call: Call): number => (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000;
const abandoned = (closing: Closing) => closing.outcome === "interrupted";

/** Some requests end the lease of another running request, too. */
const freesTwo = (when: (call: Call, closing: Closing) => boolean): Apply => {
  const running = remembered(() => new Set<Call>());
  return all(
    wrap("began", (next) => (call) => {
      if (call.lease !== undefined) running(call).add(call);
      next(call);
    }),
    wrap("release", (next) => (call, closing) => {
      running(call).delete(call);
      next(call, closing);
      const other = [...running(call)].find(({ key }) => key?.account === call.key?.account);
      if (other === undefined || !when(call, closing)) return;
      running(call).delete(other);
      other.lease?.release();
    }),
  );
};

/** Ends a lease before the request ends. */
const releasedAfter = (ms: number, when: When): Apply =>
  wrap("began", (next) => (call) => {
    if (when(call)) setTimeout(() => call.lease?.release(), ms).unref();
    next(call);
  });

/** When a request counts as in flight. */
export const CONCURRENCY_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "concurrency.freed-when-stream-begins",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream stops counting as in flight with its first byte.",
    releasedAfter(0, streaming),
  ),
  loadMutation(
    "concurrency.freed-during-stream",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream stops counting as in flight a second after it began.",
    releasedAfter(1_000, streaming),
  ),
  loadMutation(
    "concurrency.freed-during-second-keys-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of an account's second key stops counting as in flight a second after it began.",
    releasedAfter(1_000, both(streaming, secondKey)),
  ),
  loadMutation(
    "concurrency.freed-during-slow-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of a model that is slow to begin stops counting as in flight a second after it began.",
    releasedAfter(1_000, both(streaming, modelIs("slow"))),
  ),
  loadMutation(
    "concurrency.freed-after-a-second",
    [...TOO_MANY, "LIMIT-CONC-3"],
    "Every request stops counting as in flight a second after it came.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency") setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.non-streaming-freed-after-a-second",
    ["LIMIT-CONC-2", "LIMIT-CONC-1"],
    "A non-streaming request stops counting as in flight a second after it came.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.leaked-by-streams",
    LEAK,
    "Every tenth complete stream counts as in flight for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(10, streaming)),
    ),
  ),
  loadMutation(
    "concurrency.leaked-by-non-streaming-replies",
    LEAK,
    "Every fiftieth complete reply counts as in flight for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(50, nonStreaming)),
    ),
  ),
  loadMutation(
    "concurrency.leaked-by-output-limit",
    LEAK,
    "A reply that its output limit cut short counts as in flight for ever.",
    leaks((call) => call.request?.maxTokens !== undefined && call.request.maxTokens < 8),
  ),
  loadMutation(
    "concurrency.reused-connections-take-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A stream on a connection that was used before counts as two in-flight requests.",
    wrap("began", (next) => (call) => {
      const { key, lease } = call;
      if (streaming(call) && reused(call) && key !== undefined && lease !== undefined) {
        const more = call.behaviour.concurrencyOf(key, call).take(lease.expectedEndUs);
        const release = () => {
          lease.release();
          more.release();
        };
        call.lease = { ...lease, release };
      }
      next(call);
    }),
  ),
  loadMutation(
    "concurrency.leaked-by-upstream-failures",
    LEAK,
    "A request whose provider failed counts as in flight for ever.",
    leaks((_call, closing) => closing.outcome === "failed"),
  ),
  loadMutation(
    "concurrency.non-streaming-freed-at-once",
    ["LIMIT-CONC-1", "LIMIT-CONC-2"],
    "Non-streaming requests are denied at the limit, and stop counting as in flight at once.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 5).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.leaked-by-tool-calls",
    LEAK,
    "A reply with tool calls counts as in flight for ever.",
    leaks((call, closing) => closing.outcome === "complete" && call.model?.id === "tool-caller"),
  ),
  loadMutation(
    "concurrency.leaked-by-timeouts",
    LEAK,
    "A request whose provider did not answer in time counts as in flight for ever.",
    leaks((call, closing) => closing.outcome === "failed" && call.model?.id === "fail-timeout"),
  ),
  loadMutation(
    "concurrency.leaked-by-broken-streams",
    LEAK,
    "A stream whose provider broke off counts as in flight for ever.",
    leaks((_call, closing) => closing.outcome === "broken"),
  ),
  loadMutation(
    "concurrency.leaked-by-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "A stream whose client left counts as in flight for ever.",
    leaks((call, closing) => abandoned(closing) && streaming(call)),
  ),
  loadMutation(
    "concurrency.leaked-by-streams-left-late",
    ["LIMIT-CONC-5"],
    "A stream whose client left after more than a second counts as in flight for ever.",
    leaks((call, closing) => abandoned(closing) && streaming(call) && sinceArrivalMs(call) > 1_000),
  ),
  loadMutation(
    "concurrency.leaked-by-abandoned-replies",
    ["LIMIT-CONC-5", ...LEAK],
    "A non-streaming request whose client left counts as in flight for ever.",
    leaks((call, closing) => abandoned(closing) && nonStreaming(call)),
  ),
  loadMutation(
    "concurrency.leaked-by-some-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "Every third stream whose client left counts as in flight for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          abandoned(closing) && unlucky(call)
      )(every(3, streaming)),
    ),
  ),
  loadMutation(
    "concurrency.abandoned-run-on",
    ["LIMIT-CONC-5"],
    "A request whose client left runs on for a minute.",
    wrap("release", (next) => (call, closing) => {
      if (abandoned(closing)) setTimeout(() => next(call, closing), 60_000).unref();
      else next(call, closing);
    }),
  ),
  loadMutation(
    "concurrency.leaked-by-denials",
    LEAK,
    "Every concurrency denial counts as in flight for ever.",
    onDenial("concurrency_limit_exceeded", always, (response, call) => {
      if (call.key !== undefined) call.behaviour.concurrencyOf(call.key, call).take(Number.POSITIVE_INFINITY);
      return response;
    }),
  ),
  loadMutation(
    "concurrency.denials-free-another",
    [...TOO_MANY, "LIMIT-CONC-1"],
    "Every concurrency denial makes another request stop counting as in flight.",
    (() => {
      const running = remembered(() => new Set<Call>());
      return all(
        wrap("began", (next) => (call) => {
          if (call.lease !== undefined) running(call).add(call);
          next(call);
        }),
        wrap("ended", (next) => (call, closing) => {
          running(call).delete(call);
          next(call, closing);
        }),
        onDenial("concurrency_limit_exceeded", always, (response, call) => {
          const [first] = [...running(call)].filter((other) => other.key?.account === call.key?.account);
          first?.lease?.release();
          if (first !== undefined) running(call).delete(first);
          return response;
        }),
      );
    })(),
  ),
  loadMutation(
    "concurrency.abandoned-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-5"],
    "A request that its client left makes another one stop counting as in flight as well.",
    freesTwo((_call, closing) => abandoned(closing)),
  ),
  loadMutation(
    "concurrency.failed-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A request whose provider failed makes another one stop counting as in flight as well.",
    freesTwo((_call, closing) => closing.outcome === "failed" || closing.outcome === "broken"),
  ),
  loadMutation(
    "concurrency.freed-late",
    LEAK,
    "Requests count as in flight for ten seconds after their end.",
    wrap("release", (next) => (call, closing) => {
      setTimeout(() => next(call, closing), 10_000).unref();
    }),
  ),
  loadMutation(
    "concurrency.queue-instead",
    ["LIMIT-CONC-1", "ERR-429-CONC"],
    "Requests over the concurrency limit wait for their turn instead of being denied.",
    all(
      overlook("concurrency_limit_exceeded"),
      wrap("respond", (next) => async (call) => {
        while (isAtConcurrencyLimit(call)) await sleep(20);
        return next(call);
      }),
    ),
  ),
  loadMutation(
    "concurrency.oldest-stream-dropped",
    ["LIMIT-CONC-7", "STREAM-3"],
    "A request over the concurrency limit is denied, and the oldest running stream is cut.",
    (() => {
      const running = remembered(() => new Map<Call, () => void>());
      return all(
        wrap("deliver", (next) => (parcel, call, delivery) => {
          if (call.lease !== undefined && streaming(call)) running(call).set(call, () => delivery.response.destroy());
          next(parcel, call, delivery);
        }),
        wrap("ended", (next) => (call, closing) => {
          running(call).delete(call);
          next(call, closing);
        }),
        onDenial("concurrency_limit_exceeded", always, (response, call) => {
          for (const [other, cut] of running(call)) {
            if (other.key?.account !== call.key?.account) continue;
            cut();
            break;
          }
          return response;
        }),
      );
    })(),
  ),
  loadMutation(
    "concurrency.denial-drops-connection",
    ["LIMIT-CONC-1", "ERR-429-CONC", "LIMIT-CONC-6"],
    "Requests over the concurrency limit get no answer: the connection is dropped.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (call.refused?.reason === "concurrency_limit_exceeded") cutOff(delivery);
      else next(parcel, call, delivery);
    }),
  ),
  loadMutation(
    "concurrency.denial-never-sent",
    ["LIMIT-CONC-1", "ERR-429-CONC", "ANSWER-IN-TIME"],
    "Requests over the concurrency limit wait for an answer that never comes.",
    onDenial("concurrency_limit_exceeded", always, (response) => ({ ...response, afterMs: 3_600_000 })),
  ),
  loadMutation(
    "concurrency.locked-when-full",
    ["LIMIT-CONC-4"],
    "After a concurrency denial the account is locked for half a minute.",
    wrap("check", (next) => {
      const locked = remembered(() => new Map<string, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "concurrency" || call.key === undefined) return refused;
        const nowUs = call.services.clock.monotonicUs();
        const { id } = call.key.account;
        if (refused !== undefined && !locked(call).has(id)) locked(call).set(id, nowUs);
        const since = locked(call).get(id);
        return (
          refused ??
          (since !== undefined && nowUs - since < 30_000_000
            ? refusal("concurrency_limit_exceeded", { waitMs: 1_000 })
            : undefined)
        );
      };
    }),
  ),
];

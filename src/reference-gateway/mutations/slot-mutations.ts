import { sleep } from "../../core/index.ts";
import { loadMutation, type Mutation } from "../change.ts";
import { cutOff } from "../edits/connection-edits.ts";
import { meetsFullHouse } from "../edits/limit-scopes.ts";
import {
  always,
  both,
  every,
  modelIs,
  remembered,
  reused,
  secondKey,
  streaming,
  type When,
  whole,
} from "../edits/when.ts";
import { type Apply, all, onDenial, overlook, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Closing } from "../pipeline/outcome.ts";
import { refusal } from "../pipeline/refusal.ts";

const TOO_MANY = ["LIMIT-CONC-2"];
/** A leaked slot is missing from the next full wave. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

/** Slots of some requests are never freed. */
const leaks = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("release", (next) => (call, closing) => {
    if (!when(call, closing)) next(call, closing);
  });

const sinceArrivalMs = (call: Call): number => (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000;
const abandoned = (closing: Closing) => closing.outcome === "interrupted";

/** Some requests give back a slot of another running request, too. */
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

/** Frees a slot before its time. */
const releasedAfter = (ms: number, when: When): Apply =>
  wrap("began", (next) => (call) => {
    if (when(call)) setTimeout(() => call.lease?.release(), ms).unref();
    next(call);
  });

/** How slots are taken and given back. */
export const SLOT_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "slots.freed-when-stream-begins",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream gives its slot back with its first byte.",
    releasedAfter(0, streaming),
  ),
  loadMutation(
    "slots.freed-during-stream",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream gives its slot back a second after it began.",
    releasedAfter(1_000, streaming),
  ),
  loadMutation(
    "slots.freed-during-second-keys-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of an account's second key gives its slot back a second after it began.",
    releasedAfter(1_000, both(streaming, secondKey)),
  ),
  loadMutation(
    "slots.freed-during-slow-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of a model that is slow to begin gives its slot back a second after it began.",
    releasedAfter(1_000, both(streaming, modelIs("slow"))),
  ),
  loadMutation(
    "slots.freed-after-a-second",
    [...TOO_MANY, "LIMIT-CONC-3"],
    "Every request gives its slot back a second after it came.",
    wrap("check", (next) => (name, call) => {
      if (name === "slot") setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "slots.whole-freed-after-a-second",
    ["LIMIT-CONC-2", "LIMIT-CONC-1"],
    "A whole request gives its slot back a second after it came.",
    wrap("check", (next) => (name, call) => {
      if (name === "slot" && whole(call)) setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "slots.leaked-by-streams",
    LEAK,
    "Every tenth complete stream keeps its slot for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(10, streaming)),
    ),
  ),
  loadMutation(
    "slots.leaked-by-whole-replies",
    LEAK,
    "Every fiftieth complete reply keeps its slot for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(50, whole)),
    ),
  ),
  loadMutation(
    "slots.leaked-by-output-limit",
    LEAK,
    "A reply that its output limit cut short keeps its slot for ever.",
    leaks((call) => call.ask?.maxTokens !== undefined && call.ask.maxTokens < 8),
  ),
  loadMutation(
    "slots.reused-connections-take-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A stream on a connection that was used before takes two slots.",
    wrap("began", (next) => (call) => {
      const { key, lease } = call;
      if (streaming(call) && reused(call) && key !== undefined && lease !== undefined) {
        const more = call.behaviour.slotsOf(key, call).take(lease.expectedEndUs);
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
    "slots.leaked-by-upstream-failures",
    LEAK,
    "A request whose provider failed keeps its slot for ever.",
    leaks((_call, closing) => closing.outcome === "failed"),
  ),
  loadMutation(
    "slots.whole-give-back-at-once",
    ["LIMIT-CONC-1", "LIMIT-CONC-2"],
    "Whole requests are denied when no slot is free, and give theirs back at once.",
    wrap("check", (next) => (name, call) => {
      if (name === "slot" && whole(call)) setTimeout(() => call.lease?.release(), 5).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "slots.leaked-by-tool-calls",
    LEAK,
    "A reply with tool calls keeps its slot for ever.",
    leaks((call, closing) => closing.outcome === "complete" && call.model?.id === "tool-caller"),
  ),
  loadMutation(
    "slots.leaked-by-timeouts",
    LEAK,
    "A request whose provider did not answer in time keeps its slot for ever.",
    leaks((call, closing) => closing.outcome === "failed" && call.model?.id === "fail-timeout"),
  ),
  loadMutation(
    "slots.leaked-by-broken-streams",
    LEAK,
    "A stream whose provider broke off keeps its slot for ever.",
    leaks((_call, closing) => closing.outcome === "broken"),
  ),
  loadMutation(
    "slots.leaked-by-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "A stream whose client left keeps its slot for ever.",
    leaks((call, closing) => abandoned(closing) && streaming(call)),
  ),
  loadMutation(
    "slots.leaked-by-streams-left-late",
    ["LIMIT-CONC-5"],
    "A stream whose client left after more than a second keeps its slot for ever.",
    leaks((call, closing) => abandoned(closing) && streaming(call) && sinceArrivalMs(call) > 1_000),
  ),
  loadMutation(
    "slots.leaked-by-abandoned-replies",
    ["LIMIT-CONC-5", ...LEAK],
    "A whole request whose client left keeps its slot for ever.",
    leaks((call, closing) => abandoned(closing) && whole(call)),
  ),
  loadMutation(
    "slots.leaked-by-some-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "Every third stream whose client left keeps its slot for ever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          abandoned(closing) && unlucky(call)
      )(every(3, streaming)),
    ),
  ),
  loadMutation(
    "slots.abandoned-run-on",
    ["LIMIT-CONC-5"],
    "A request whose client left runs on for a minute.",
    wrap("release", (next) => (call, closing) => {
      if (abandoned(closing)) setTimeout(() => next(call, closing), 60_000).unref();
      else next(call, closing);
    }),
  ),
  loadMutation(
    "slots.leaked-by-denials",
    LEAK,
    "Every concurrency denial takes a slot and keeps it.",
    onDenial("concurrency_limit_exceeded", always, (answer, call) => {
      if (call.key !== undefined) call.behaviour.slotsOf(call.key, call).take(Number.POSITIVE_INFINITY);
      return answer;
    }),
  ),
  loadMutation(
    "slots.denials-free-a-slot",
    [...TOO_MANY, "LIMIT-CONC-1"],
    "Every concurrency denial gives back a slot that it never had.",
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
        onDenial("concurrency_limit_exceeded", always, (answer, call) => {
          const [first] = [...running(call)].filter((other) => other.key?.account === call.key?.account);
          first?.lease?.release();
          if (first !== undefined) running(call).delete(first);
          return answer;
        }),
      );
    })(),
  ),
  loadMutation(
    "slots.abandoned-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-5"],
    "A request that its client left gives back another's slot as well.",
    freesTwo((_call, closing) => abandoned(closing)),
  ),
  loadMutation(
    "slots.failed-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A request whose provider failed gives back another's slot as well.",
    freesTwo((_call, closing) => closing.outcome === "failed" || closing.outcome === "broken"),
  ),
  loadMutation(
    "slots.freed-late",
    LEAK,
    "Slots are given back ten seconds after the end.",
    wrap("release", (next) => (call, closing) => {
      setTimeout(() => next(call, closing), 10_000).unref();
    }),
  ),
  loadMutation(
    "slots.queue-instead",
    ["LIMIT-CONC-1", "ERR-429-CONC"],
    "Requests over the concurrency limit wait for a slot instead of being denied.",
    all(
      overlook("concurrency_limit_exceeded"),
      wrap("answer", (next) => async (call) => {
        while (meetsFullHouse(call)) await sleep(20);
        return next(call);
      }),
    ),
  ),
  loadMutation(
    "slots.oldest-stream-dropped",
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
        onDenial("concurrency_limit_exceeded", always, (answer, call) => {
          for (const [other, cut] of running(call)) {
            if (other.key?.account !== call.key?.account) continue;
            cut();
            break;
          }
          return answer;
        }),
      );
    })(),
  ),
  loadMutation(
    "slots.denial-drops-connection",
    ["LIMIT-CONC-1", "ERR-429-CONC", "LIMIT-CONC-6"],
    "Requests over the concurrency limit get no answer: the connection is dropped.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (call.refused?.reason === "concurrency_limit_exceeded") cutOff(delivery);
      else next(parcel, call, delivery);
    }),
  ),
  loadMutation(
    "slots.denial-never-sent",
    ["LIMIT-CONC-1", "ERR-429-CONC", "ANSWER-IN-TIME"],
    "Requests over the concurrency limit wait for an answer that never comes.",
    onDenial("concurrency_limit_exceeded", always, (answer) => ({ ...answer, afterMs: 3_600_000 })),
  ),
  loadMutation(
    "slots.locked-when-full",
    ["LIMIT-CONC-4"],
    "After a concurrency denial the account is locked for half a minute.",
    wrap("check", (next) => {
      const locked = remembered(() => new Map<string, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "slot" || call.key === undefined) return refused;
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

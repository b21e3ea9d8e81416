import type { Account } from "../../accounts/account.ts";
import { loadGrid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { both, modelIs, nonStreaming, remembered, reused, secondKey, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, wrap } from "../../edits/wrap.ts";
import { ConcurrencyLimiter } from "../../limiters/concurrency-limiter.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Closing } from "../../pipeline/outcome.ts";

const TOO_MANY = ["LIMIT-CONC-2"];

/** A leaked lease lowers the limit the next time it is reached. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

const abandoned = (closing: Closing) => closing.outcome === "interrupted";

/** Some requests also end the lease of another request in flight. */
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

const firstLimiters = remembered(() => new Map<Account, ConcurrencyLimiter>());

/** Requests that stop counting as in flight too early, too late or twice. */
export const CONCURRENCY_MUTATIONS: readonly Mutation[] = [
  mutation("concurrency.upgrade-without-effect", {
    breaks: ["LIMIT-CHANGE"],
    summary: "A changed concurrency limit takes effect only after a restart.",
    apply: wrap("concurrencyOf", () => (key, call) => {
      const first = firstLimiters(call);
      const known = first.get(key.account) ?? new ConcurrencyLimiter(key.account.concurrency.limit);
      first.set(key.account, known);
      return known;
    }),
    detectedBy: { "limits.tier-change": "LIMIT-CHANGE" },
    shownBy: "checks",
  }),
  loadMutation("concurrency.freed-when-stream-begins", {
    breaks: ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    summary: "A stream stops counting as in flight at its first byte.",
    apply: releasedAfter(0, streaming),
  }),
  ...loadGrid(["LIMIT-CONC-2", "LIMIT-CONC-3"], (when: When) => releasedAfter(1_000, when), {
    "concurrency.freed-during-stream": {
      summary: "A stream stops counting as in flight a second after it starts.",
      with: streaming,
      shownBy: ["lasting"],
    },
    "concurrency.freed-during-second-keys-streams": {
      summary: "A stream of an account's second key stops counting as in flight a second after it starts.",
      with: both(streaming, secondKey),
      shownBy: "checks",
    },
    "concurrency.freed-during-slow-streams": {
      summary: "A stream of a model with a slow first byte stops counting as in flight a second after it starts.",
      with: both(streaming, modelIs("slow")),
      shownBy: "checks",
    },
  }),
  loadMutation("concurrency.freed-after-a-second", {
    breaks: [...TOO_MANY, "LIMIT-CONC-3"],
    summary: "Every request stops counting as in flight a second after it arrives.",
    apply: wrap("check", (next) => (name, call) => {
      if (name === "concurrency") setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
    shownBy: ["lasting"],
  }),
  loadMutation("concurrency.non-streaming-freed-after-a-second", {
    breaks: ["LIMIT-CONC-2", "LIMIT-CONC-1"],
    summary: "A non-streaming request stops counting as in flight a second after it arrives.",
    apply: wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
    shownBy: "checks",
  }),
  loadMutation("concurrency.reused-connections-take-two", {
    breaks: ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    summary: "A stream on a reused connection counts as two in-flight requests.",
    apply: wrap("began", (next) => (call) => {
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
    shownBy: "checks",
  }),
  loadMutation("concurrency.non-streaming-freed-at-once", {
    breaks: ["LIMIT-CONC-1", "LIMIT-CONC-2"],
    summary: "Non-streaming requests are denied at the limit, but stop counting as in flight immediately.",
    apply: wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 5).unref();
      return next(name, call);
    }),
  }),
  loadMutation("concurrency.abandoned-run-on", {
    breaks: ["LIMIT-CONC-5"],
    summary: "A request whose client disconnected keeps running for a minute.",
    apply: wrap("release", (next) => (call, closing) => {
      if (abandoned(closing)) setTimeout(() => next(call, closing), 60_000).unref();
      else next(call, closing);
    }),
  }),
  ...loadGrid(["LIMIT-CONC-2", "LIMIT-CONC-5"], freesTwo, {
    "concurrency.abandoned-free-two": {
      summary: "A request whose client disconnected also removes another one from the in-flight count.",
      with: (_call, closing) => abandoned(closing),
      shownBy: "checks",
    },
    "concurrency.failed-free-two": {
      breaks: ["LIMIT-CONC-2", "LIMIT-CONC-4"],
      summary: "A request whose provider failed also removes another one from the in-flight count.",
      with: (_call, closing) => closing.outcome === "failed" || closing.outcome === "broken",
      shownBy: "checks",
    },
  }),
  loadMutation("concurrency.freed-late", {
    breaks: LEAK,
    summary: "Requests count as in flight for ten seconds after they end.",
    apply: wrap("release", (next) => (call, closing) => {
      setTimeout(() => next(call, closing), 10_000).unref();
    }),
    mayBreak: ["ERR-429-RATE", "LIMIT-RATE-1"],
  }),
];

import type { Account } from "../accounts/account.ts";
import { loadMutation, type Mutation, mutation } from "../change.ts";
import { both, modelIs, nonStreaming, remembered, reused, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, wrap } from "../edits/wrap.ts";
import { ConcurrencyLimiter } from "../limits/concurrency-limiter.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Closing } from "../pipeline/outcome.ts";

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
  mutation(
    "concurrency.upgrade-without-effect",
    ["LIMIT-CHANGE"],
    "A changed concurrency limit takes effect only after a restart.",
    wrap("concurrencyOf", () => (key, call) => {
      const first = firstLimiters(call);
      const known = first.get(key.account) ?? new ConcurrencyLimiter(key.account.concurrency.limit);
      first.set(key.account, known);
      return known;
    }),
  ),
  loadMutation(
    "concurrency.freed-when-stream-begins",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream stops counting as in flight at its first byte.",
    releasedAfter(0, streaming),
  ),
  loadMutation(
    "concurrency.freed-during-stream",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream stops counting as in flight a second after it starts.",
    releasedAfter(1_000, streaming),
  ),
  loadMutation(
    "concurrency.freed-during-second-keys-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of an account's second key stops counting as in flight a second after it starts.",
    releasedAfter(1_000, both(streaming, secondKey)),
  ),
  loadMutation(
    "concurrency.freed-during-slow-streams",
    ["LIMIT-CONC-2", "LIMIT-CONC-3"],
    "A stream of a model with a slow first byte stops counting as in flight a second after it starts.",
    releasedAfter(1_000, both(streaming, modelIs("slow"))),
  ),
  loadMutation(
    "concurrency.freed-after-a-second",
    [...TOO_MANY, "LIMIT-CONC-3"],
    "Every request stops counting as in flight a second after it arrives.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency") setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.non-streaming-freed-after-a-second",
    ["LIMIT-CONC-2", "LIMIT-CONC-1"],
    "A non-streaming request stops counting as in flight a second after it arrives.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 1_000).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.reused-connections-take-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A stream on a reused connection counts as two in-flight requests.",
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
    "concurrency.non-streaming-freed-at-once",
    ["LIMIT-CONC-1", "LIMIT-CONC-2"],
    "Non-streaming requests are denied at the limit, but stop counting as in flight immediately.",
    wrap("check", (next) => (name, call) => {
      if (name === "concurrency" && nonStreaming(call)) setTimeout(() => call.lease?.release(), 5).unref();
      return next(name, call);
    }),
  ),
  loadMutation(
    "concurrency.abandoned-run-on",
    ["LIMIT-CONC-5"],
    "A request whose client disconnected keeps running for a minute.",
    wrap("release", (next) => (call, closing) => {
      if (abandoned(closing)) setTimeout(() => next(call, closing), 60_000).unref();
      else next(call, closing);
    }),
  ),
  loadMutation(
    "concurrency.abandoned-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-5"],
    "A request whose client disconnected also removes another one from the in-flight count.",
    freesTwo((_call, closing) => abandoned(closing)),
  ),
  loadMutation(
    "concurrency.failed-free-two",
    ["LIMIT-CONC-2", "LIMIT-CONC-4"],
    "A request whose provider failed also removes another one from the in-flight count.",
    freesTwo((_call, closing) => closing.outcome === "failed" || closing.outcome === "broken"),
  ),
  loadMutation(
    "concurrency.freed-late",
    LEAK,
    "Requests count as in flight for ten seconds after they end.",
    wrap("release", (next) => (call, closing) => {
      setTimeout(() => next(call, closing), 10_000).unref();
    }),
  ),
];

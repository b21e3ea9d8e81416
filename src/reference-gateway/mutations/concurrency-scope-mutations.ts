import { sleep } from "../../core/index.ts";
import { loadMutation, type Mutation } from "../change.ts";
import { delays } from "../edits/connection-edits.ts";
import {
  byConnection,
  byDialect,
  byKey,
  byMode,
  byModel,
  concurrencyBy,
  isAtConcurrencyLimit,
  UNLIMITED,
} from "../edits/limit-scopes.ts";
import { nonStreaming, onMessages, remembered, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, overlook, wrap } from "../edits/wrap.ts";
import { ConcurrencyLimiter } from "../limits/concurrency-limiter.ts";
import { refusal } from "../pipeline/refusal.ts";

const TOO_MANY = ["LIMIT-CONC-2"];
/** A burst of exactly the limit is then never fully admitted. */
const TOO_FEW = ["LIMIT-CONC-2", "LIMIT-CONC-4", "LIMIT-CONC-5"];
const NEVER = ["LIMIT-CONC-1", "LIMIT-CONC-2", "LIMIT-CONC-3", "ERR-429-CONC"];

/** Some requests never count as in flight. */
const unlimited = (when: When): Apply => {
  const limiterOf = remembered(() => new ConcurrencyLimiter(UNLIMITED));
  return wrap("concurrencyOf", (next) => (key, call) => (when(call) ? limiterOf(call) : next(key, call)));
};

/** Which requests count together, and the limit itself. */
export const CONCURRENCY_SCOPE_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "concurrency.never-enforced",
    [...NEVER, "LIMIT-2"],
    "The concurrency limit is never enforced.",
    concurrencyBy(undefined, () => UNLIMITED),
  ),
  loadMutation(
    "concurrency.one-too-many",
    TOO_MANY,
    "One request over the limit is admitted.",
    concurrencyBy(undefined, (limit) => limit + 1),
  ),
  loadMutation(
    "concurrency.one-too-few",
    TOO_FEW,
    "The request that reaches the limit is denied.",
    concurrencyBy(undefined, (limit) => limit - 1),
  ),
  loadMutation(
    "concurrency.halved",
    [...TOO_FEW, "LIMIT-2"],
    "Only half of the concurrency limit is admitted.",
    concurrencyBy(undefined, (limit) => limit / 2),
  ),
  loadMutation(
    "concurrency.doubled",
    [...TOO_MANY, "LIMIT-2"],
    "Twice the concurrency limit is admitted.",
    concurrencyBy(undefined, (limit) => limit * 2),
  ),
  loadMutation(
    "concurrency.growth-as-starter",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the growth tier have the concurrency limit of the starter tier.",
    concurrencyBy(undefined, (limit) => (limit === 200 ? 64 : limit)),
  ),
  loadMutation(
    "concurrency.scale-as-growth",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the scale tier have the concurrency limit of the growth tier.",
    concurrencyBy(undefined, (limit) => (limit === 500 ? 200 : limit)),
  ),
  loadMutation(
    "concurrency.starter-a-few-too-many",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the starter tier can run four requests more than their limit.",
    concurrencyBy(undefined, (limit) => (limit === 64 ? 68 : limit)),
  ),
  loadMutation(
    "concurrency.per-key",
    ["LIMIT-1", "LIMIT-CONC-2"],
    "Each key has a separate concurrency limit.",
    concurrencyBy(byKey),
  ),
  loadMutation(
    "concurrency.per-dialect",
    ["LIMIT-5", "LIMIT-CONC-2"],
    "Each dialect has a separate concurrency limit.",
    concurrencyBy(byDialect),
  ),
  loadMutation(
    "concurrency.per-model",
    TOO_MANY,
    "Each model has a separate concurrency limit.",
    concurrencyBy(byModel),
  ),
  loadMutation(
    "concurrency.streams-apart",
    [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
    "Streaming and non-streaming requests have separate concurrency limits.",
    concurrencyBy(byMode),
  ),
  loadMutation(
    "concurrency.one-full-all-full",
    ["LIMIT-1", "LIMIT-RATE-1"],
    "While one account is at its concurrency limit, every account is denied.",
    wrap("check", (next) => {
      const last = remembered(() => ({ untilMs: 0 }));
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason === "concurrency_limit_exceeded") last(call).untilMs = performance.now() + 1_000;
        else if (name === "concurrency" && performance.now() < last(call).untilMs)
          return refusal("concurrency_limit_exceeded", { waitMs: 1_000 });
        return refused;
      };
    }),
  ),
  loadMutation(
    "concurrency.denied-late",
    // Not LIMIT-CONC-1: the request is denied, and the specification does not say how quickly.
    ["ANSWER-IN-TIME"],
    "A request over the limit waits twelve seconds before it is denied.",
    delays(
      ({ refused }) => refused?.reason === "concurrency_limit_exceeded",
      () => 12_000,
    ),
  ),
  loadMutation(
    "concurrency.per-connection",
    [...NEVER, "LIMIT-1"],
    "Each connection has a separate concurrency limit.",
    concurrencyBy(byConnection),
  ),
  loadMutation(
    "concurrency.two-workers",
    TOO_MANY,
    "Two workers count separately: odd and even connections have separate concurrency limits.",
    concurrencyBy((call) => String(call.arrival.connection.id % 2)),
  ),
  loadMutation(
    "concurrency.streams-free",
    [...NEVER, "STREAM-2"],
    "Streams do not count as in flight.",
    unlimited(streaming),
  ),
  loadMutation(
    "concurrency.non-streaming-free",
    [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
    "Non-streaming requests do not count as in flight.",
    unlimited(nonStreaming),
  ),
  loadMutation(
    "concurrency.messages-free",
    [...TOO_MANY, "LIMIT-5"],
    "Requests on the messages endpoint do not count as in flight.",
    unlimited(onMessages),
  ),
  loadMutation(
    "concurrency.second-key-free",
    [...TOO_MANY, "LIMIT-1"],
    "Requests of an account's second key do not count as in flight.",
    unlimited(secondKey),
  ),
  loadMutation(
    "concurrency.accounts-share",
    ["LIMIT-1", "LIMIT-CONC-2", "LIMIT-CONC-4", "LIMIT-RATE-1"],
    "The in-flight requests of all accounts count toward each account's limit.",
    wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      if (name !== "concurrency" || call.key === undefined || refused !== undefined) return refused;
      let held = 0;
      for (const account of call.services.accounts.accounts) held += account.concurrency.held;
      return held >= call.key.account.limits.inFlight
        ? refusal("concurrency_limit_exceeded", { waitMs: 1_000 })
        : undefined;
    }),
  ),
  loadMutation(
    "concurrency.checked-before-taken",
    TOO_MANY,
    "Requests count as in flight a moment after the check: a whole burst passes.",
    all(
      overlook("concurrency_limit_exceeded"),
      wrap("respond", (next) => async (call) => {
        const full = isAtConcurrencyLimit(call);
        await sleep(30);
        return full
          ? call.behaviour.refuse(refusal("concurrency_limit_exceeded", { waitMs: 1_000 }), call)
          : next(call);
      }),
    ),
  ),
];

import { sleep } from "../../../core/index.ts";
import { loadGrid, loadMutation, type Mutation } from "../../change.ts";
import { delays } from "../../edits/connection-edits.ts";
import {
  byConnection,
  byDialect,
  byKey,
  byMode,
  byModel,
  concurrencyBy,
  isAtConcurrencyLimit,
  UNLIMITED,
} from "../../edits/limit-scopes.ts";
import { nonStreaming, onMessages, remembered, secondKey, streaming, type When } from "../../edits/when.ts";
import { type Apply, admitDespite, all, wrap } from "../../edits/wrap.ts";
import { ConcurrencyLimiter } from "../../limiters/concurrency-limiter.ts";
import { refusal } from "../../pipeline/refusal.ts";

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
  ...loadGrid(["LIMIT-2", "LIMIT-CONC-2"], (edit: (limit: number) => number) => concurrencyBy(undefined, edit), {
    "concurrency.never-enforced": {
      breaks: [...NEVER, "LIMIT-2"],
      summary: "The concurrency limit is never enforced.",
      with: () => UNLIMITED,
    },
    "concurrency.one-too-many": {
      breaks: TOO_MANY,
      summary: "One request over the limit is admitted.",
      with: (limit) => limit + 1,
    },
    "concurrency.one-too-few": {
      breaks: TOO_FEW,
      summary: "The request that reaches the limit is denied.",
      with: (limit) => limit - 1,
    },
    "concurrency.halved": {
      breaks: [...TOO_FEW, "LIMIT-2"],
      summary: "Only half of the concurrency limit is admitted.",
      with: (limit) => limit / 2,
    },
    "concurrency.doubled": {
      breaks: [...TOO_MANY, "LIMIT-2"],
      summary: "Twice the concurrency limit is admitted.",
      with: (limit) => limit * 2,
    },
    "concurrency.growth-as-starter": {
      summary: "Accounts of the growth tier have the concurrency limit of the starter tier.",
      with: (limit) => (limit === 200 ? 64 : limit),
      shownBy: "checks",
    },
    "concurrency.scale-as-growth": {
      summary: "Accounts of the scale tier have the concurrency limit of the growth tier.",
      with: (limit) => (limit === 500 ? 200 : limit),
      shownBy: "checks",
    },
    "concurrency.starter-a-few-too-many": {
      summary: "Accounts of the starter tier can run four requests more than their limit.",
      with: (limit) => (limit === 64 ? 68 : limit),
    },
  }),
  ...loadGrid(TOO_MANY, concurrencyBy, {
    "concurrency.per-key": {
      breaks: ["LIMIT-1", "LIMIT-CONC-2"],
      summary: "Each key has a separate concurrency limit.",
      with: byKey,
    },
    "concurrency.per-dialect": {
      breaks: ["LIMIT-5", "LIMIT-CONC-2"],
      summary: "Each dialect has a separate concurrency limit.",
      with: byDialect,
    },
    "concurrency.per-model": { summary: "Each model has a separate concurrency limit.", with: byModel },
    "concurrency.streams-apart": {
      breaks: [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
      summary: "Streaming and non-streaming requests have separate concurrency limits.",
      with: byMode,
    },
    "concurrency.per-connection": {
      breaks: [...NEVER, "LIMIT-1"],
      summary: "Each connection has a separate concurrency limit.",
      with: byConnection,
    },
    "concurrency.two-workers": {
      summary: "Two workers count separately: odd and even connections have separate concurrency limits.",
      with: (call) => String(call.arrival.connection.id % 2),
    },
  }),
  loadMutation("concurrency.one-full-all-full", {
    breaks: ["LIMIT-1", "LIMIT-RATE-1"],
    summary: "While one account is at its concurrency limit, every account is denied.",
    apply: wrap("check", (next) => {
      const last = remembered(() => ({ untilMs: 0 }));
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason === "concurrency_limit_exceeded") last(call).untilMs = performance.now() + 1_000;
        else if (name === "concurrency" && performance.now() < last(call).untilMs)
          return refusal("concurrency_limit_exceeded", { waitMs: 1_000 });
        return refused;
      };
    }),
    mayBreak: ["LIMIT-CONC-2"],
  }),
  loadMutation("concurrency.denied-late", {
    // Not LIMIT-CONC-1: the request is denied, and the specification does not say how quickly.
    breaks: ["ANSWER-IN-TIME"],
    summary: "A request over the limit waits twelve seconds before it is denied.",
    apply: delays(
      ({ refused }) => refused?.reason === "concurrency_limit_exceeded",
      () => 12_000,
    ),
  }),
  ...loadGrid([...NEVER, "STREAM-2"], unlimited, {
    "concurrency.streams-free": { summary: "Streams do not count as in flight.", with: streaming },
    "concurrency.non-streaming-free": {
      breaks: [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
      summary: "Non-streaming requests do not count as in flight.",
      with: nonStreaming,
    },
    "concurrency.messages-free": {
      breaks: [...TOO_MANY, "LIMIT-5"],
      summary: "Requests on the messages endpoint do not count as in flight.",
      with: onMessages,
    },
    "concurrency.second-key-free": {
      breaks: [...TOO_MANY, "LIMIT-1"],
      summary: "Requests of an account's second key do not count as in flight.",
      with: secondKey,
    },
  }),
  loadMutation("concurrency.accounts-share", {
    breaks: ["LIMIT-1", "LIMIT-CONC-2", "LIMIT-CONC-4", "LIMIT-RATE-1"],
    summary: "The in-flight requests of all accounts count toward each account's limit.",
    apply: wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      if (name !== "concurrency" || call.key === undefined || refused !== undefined) return refused;
      let held = 0;
      for (const account of call.services.accounts.accounts) held += account.concurrency.held;
      return held >= call.key.account.limits.inFlight
        ? refusal("concurrency_limit_exceeded", { waitMs: 1_000 })
        : undefined;
    }),
  }),
  loadMutation("concurrency.checked-before-taken", {
    breaks: TOO_MANY,
    summary: "Requests count as in flight a moment after the check: a whole burst passes.",
    apply: all(
      admitDespite("concurrency_limit_exceeded"),
      wrap("respond", (next) => async (call) => {
        const full = isAtConcurrencyLimit(call);
        await sleep(30);
        return full
          ? call.behaviour.refuse(refusal("concurrency_limit_exceeded", { waitMs: 1_000 }), call)
          : next(call);
      }),
    ),
  }),
];

import { sleep } from "../../core/index.ts";
import { loadMutation, type Mutation } from "../change.ts";
import { delays } from "../edits/connection-edits.ts";
import {
  byConnection,
  byDialect,
  byKey,
  byMode,
  byModel,
  meetsFullHouse,
  slotsBy,
  UNLIMITED,
} from "../edits/limit-scopes.ts";
import { onMessages, remembered, secondKey, streaming, type When, whole } from "../edits/when.ts";
import { type Apply, all, overlook, wrap } from "../edits/wrap.ts";
import { Slots } from "../limits/slots.ts";
import { refusal } from "../pipeline/refusal.ts";

const TOO_MANY = ["LIMIT-CONC-2"];
/** A full wave of exactly the limit is then never admitted. */
const TOO_FEW = ["LIMIT-CONC-2", "LIMIT-CONC-4", "LIMIT-CONC-5"];
const NEVER = ["LIMIT-CONC-1", "LIMIT-CONC-2", "LIMIT-CONC-3", "ERR-429-CONC"];

/** Some requests take their slots from a supply that never ends. */
const unlimited = (when: When): Apply => {
  const supply = remembered(() => new Slots(UNLIMITED));
  return wrap("slotsOf", (next) => (key, call) => (when(call) ? supply(call) : next(key, call)));
};

/** Whose requests take slots of which supply, and how many there are. */
export const SLOT_SCOPE_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "slots.never-enforced",
    [...NEVER, "LIMIT-2"],
    "The concurrency limit is never enforced.",
    slotsBy(undefined, () => UNLIMITED),
  ),
  loadMutation(
    "slots.one-too-many",
    TOO_MANY,
    "One request more than the limit is let in.",
    slotsBy(undefined, (limit) => limit + 1),
  ),
  loadMutation(
    "slots.one-too-few",
    TOO_FEW,
    "The request that reaches the limit is denied.",
    slotsBy(undefined, (limit) => limit - 1),
  ),
  loadMutation(
    "slots.halved",
    [...TOO_FEW, "LIMIT-2"],
    "Half of the promised requests are let in at a time.",
    slotsBy(undefined, (limit) => limit / 2),
  ),
  loadMutation(
    "slots.doubled",
    [...TOO_MANY, "LIMIT-2"],
    "Twice the promised requests are let in at a time.",
    slotsBy(undefined, (limit) => limit * 2),
  ),
  loadMutation(
    "slots.growth-as-starter",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the growth tier have the slots of the starter tier.",
    slotsBy(undefined, (limit) => (limit === 200 ? 64 : limit)),
  ),
  loadMutation(
    "slots.scale-as-growth",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the scale tier have the slots of the growth tier.",
    slotsBy(undefined, (limit) => (limit === 500 ? 200 : limit)),
  ),
  loadMutation(
    "slots.starter-a-few-too-many",
    ["LIMIT-2", "LIMIT-CONC-2"],
    "Accounts of the starter tier have four slots too many.",
    slotsBy(undefined, (limit) => (limit === 64 ? 68 : limit)),
  ),
  loadMutation("slots.per-key", ["LIMIT-1", "LIMIT-CONC-2"], "Each key has slots of its own.", slotsBy(byKey)),
  loadMutation(
    "slots.per-dialect",
    ["LIMIT-5", "LIMIT-CONC-2"],
    "Each dialect has slots of its own.",
    slotsBy(byDialect),
  ),
  loadMutation("slots.per-model", TOO_MANY, "Each model has slots of its own.", slotsBy(byModel)),
  loadMutation(
    "slots.streams-apart",
    [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
    "Streams and non-streaming requests have slots each.",
    slotsBy(byMode),
  ),
  loadMutation(
    "slots.one-full-all-full",
    ["LIMIT-1", "LIMIT-RATE-1"],
    "While one account's slots are all held, every account is denied.",
    wrap("check", (next) => {
      const last = remembered(() => ({ untilMs: 0 }));
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason === "concurrency_limit_exceeded") last(call).untilMs = performance.now() + 1_000;
        else if (name === "slot" && performance.now() < last(call).untilMs)
          return refusal("concurrency_limit_exceeded", { waitMs: 1_000 });
        return refused;
      };
    }),
  ),
  loadMutation(
    "slots.denied-late",
    ["LIMIT-CONC-1"],
    "A request over the limit waits for twelve seconds before it is denied.",
    delays(
      ({ refused }) => refused?.reason === "concurrency_limit_exceeded",
      () => 12_000,
    ),
  ),
  loadMutation(
    "slots.per-connection",
    [...NEVER, "LIMIT-1"],
    "Each connection has slots of its own.",
    slotsBy(byConnection),
  ),
  loadMutation(
    "slots.two-workers",
    TOO_MANY,
    "Two workers count for themselves: connections with odd and even numbers have slots each.",
    slotsBy((call) => String(call.arrival.connection.id % 2)),
  ),
  loadMutation("slots.streams-free", [...NEVER, "STREAM-2"], "Streams hold no slot.", unlimited(streaming)),
  loadMutation(
    "slots.whole-free",
    [...TOO_MANY, "LIMIT-CONC-3", "LIMIT-1"],
    "Whole requests hold no slot.",
    unlimited(whole),
  ),
  loadMutation(
    "slots.messages-free",
    [...TOO_MANY, "LIMIT-5"],
    "Requests on the messages endpoint hold no slot.",
    unlimited(onMessages),
  ),
  loadMutation(
    "slots.second-key-free",
    [...TOO_MANY, "LIMIT-1"],
    "Requests of an account's second key hold no slot.",
    unlimited(secondKey),
  ),
  loadMutation(
    "slots.accounts-share",
    ["LIMIT-1", "LIMIT-CONC-2", "LIMIT-CONC-4", "LIMIT-RATE-1"],
    "The running requests of every account count toward each account's limit.",
    wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      if (name !== "slot" || call.key === undefined || refused !== undefined) return refused;
      let held = 0;
      for (const account of call.services.accounts.accounts) held += account.slots.held;
      return held >= call.key.account.limits.inFlight
        ? refusal("concurrency_limit_exceeded", { waitMs: 1_000 })
        : undefined;
    }),
  ),
  loadMutation(
    "slots.checked-before-taken",
    TOO_MANY,
    "Slots are taken a moment after they were checked: a burst passes whole.",
    all(
      overlook("concurrency_limit_exceeded"),
      wrap("answer", (next) => async (call) => {
        const full = meetsFullHouse(call);
        await sleep(30);
        return full
          ? call.behaviour.refuse(refusal("concurrency_limit_exceeded", { waitMs: 1_000 }), call)
          : next(call);
      }),
    ),
  ),
];

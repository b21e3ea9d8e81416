import { member } from "../../../core/index.ts";
import { utcDay } from "../../accounts/utc-day.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import {
  always,
  every,
  extraField,
  inference,
  multiTurn,
  onMessages,
  remembered,
  reused,
  streaming,
  type When,
} from "../../edits/when.ts";
import { type Apply, admitDespite, all, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";

const QUOTA = ["ERR-402-QUOTA", "SPEND-3"];
const BUDGET = ["ERR-429-BUDGET", "SPEND-8"];

const extraHeader: When = ({ arrival }) => Object.keys(arrival.headers).some((name) => name.startsWith("x-"));

/** The day by which caps are counted, as days since the start of the gateway. */
const dayBy = (daysSinceStart: (nowMs: number, startMs: number) => number): Apply =>
  wrap("capDay", () => ({ services }: Call) => {
    const startMs = services.startedS * 1_000;
    return utcDay(startMs) + daysSinceStart(services.clock.nowMs(), startMs);
  });

const HOUR_MS = 3_600_000;

/** Days whose boundary is this many hours after that of UTC. */
const shiftedDay = (hours: number): Apply =>
  dayBy((nowMs, startMs) => utcDay(nowMs - hours * HOUR_MS) - utcDay(startMs - hours * HOUR_MS));

/** After the denial of one key, the other keys of its account are denied for a few seconds. */
const stopsSiblings = (reason: "quota_exceeded" | "budget_exhausted"): Apply =>
  wrap("check", (next) => {
    const stopped = remembered(() => new Map<string, { readonly keyId: string; readonly atUs: number }>());
    return (name, call) => {
      const refused = next(name, call);
      if (name !== "spending" || call.key === undefined) return refused;
      const { account, id } = call.key;
      const atUs = call.services.clock.monotonicUs();
      if (refused?.reason === reason) stopped(call).set(account.id, { keyId: id, atUs });
      const known = stopped(call).get(account.id);
      const within = known !== undefined && known.keyId !== id && atUs - known.atUs < 5_000_000;
      return refused ?? (within ? refusal(reason) : undefined);
    };
  });

/** Who is denied for lack of funds, and for how long. */
export const SPENDING_MUTATIONS: readonly Mutation[] = [
  mutation("spend.cap-forgotten-after-a-while", {
    breaks: ["SPEND-7", ...QUOTA],
    summary: "A capped key is served again ten seconds after its first denial.",
    apply: wrap("check", (next) => {
      const first = remembered(() => new Map<string, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason !== "quota_exceeded" || call.key === undefined) return refused;
        const nowUs = call.services.clock.monotonicUs();
        const firstUs = first(call).get(call.key.id) ?? nowUs;
        first(call).set(call.key.id, firstUs);
        return nowUs - firstUs > 10_000_000 ? undefined : refused;
      };
    }),
    shownBy: "checks",
  }),
  ...grid(QUOTA, (when: When) => admitDespite("quota_exceeded", when), {
    "spend.cap-never-enforced": {
      breaks: [...QUOTA, "SPEND-5", "SPEND-7", "SPEND-12", "STREAM-2"],
      summary: "Daily caps are never enforced.",
      with: always,
      detectedBy: { "spending.capped-key-isolated": "ERR-402-QUOTA" },
    },
    "spend.cap-ignored-on-stream": {
      breaks: [...QUOTA, "SPEND-12", "STREAM-2"],
      summary: "Daily caps are not checked for streams.",
      with: streaming,
      detectedBy: { "spending.capped-key-isolated": "ERR-402-QUOTA" },
    },
    "spend.cap-ignored-on-messages": {
      breaks: [...QUOTA, "SPEND-12", "STREAM-2"],
      summary: "Daily caps are not checked on the messages endpoint.",
      with: onMessages,
      mayBreak: ["SPEND-7"],
      detectedBy: { "spending.capped-key-isolated": "ERR-402-QUOTA" },
    },
    "spend.cap-ignored-with-parameters": {
      summary: "A request with max_tokens and temperature bypasses the daily cap.",
      with: (call) => member(call.parsed, "temperature") !== undefined,
    },
    "spend.cap-ignored-with-extra-field": {
      summary: "A request with an undocumented field bypasses the daily cap.",
      with: extraField,
      detectedBy: { "spending.no-bypass[chat,capped]": "ERR-402-QUOTA" },
    },
    "spend.cap-ignored-with-extra-header": {
      summary: "A request with an x- header bypasses the daily cap.",
      with: extraHeader,
      detectedBy: { "spending.no-bypass[chat,capped]": "ERR-402-QUOTA" },
    },
    "spend.cap-ignored-by-other-models": {
      summary: "The daily cap applies only to the plain models.",
      with: (call) => inference(call) && call.model?.id.startsWith("echo-fast") !== true,
    },
    "spend.cap-ignored-in-conversations": {
      summary: "A multi-turn conversation bypasses the daily cap.",
      with: multiTurn,
    },
    "spend.cap-ignored-on-reused-connections": {
      breaks: [...QUOTA, "STREAM-2"],
      summary: "A request on a reused connection bypasses the daily cap.",
      with: reused,
      mayBreak: ["SPEND-7"],
    },
  }),
  ...grid(["SPEND-4", "SPEND-3", "SPEND-13"], stopsSiblings, {
    "spend.capped-key-stops-siblings": {
      summary: "When a key reaches its daily cap, the other keys of its account are denied for a while.",
      with: "quota_exceeded",
    },
    "spend.spent-child-stops-siblings": {
      breaks: ["SPEND-9", "SPEND-13"],
      summary: "When a child key exhausts its budget, the other keys of its account are denied for a while.",
      with: "budget_exhausted",
    },
  }),
  ...grid([...BUDGET, "SPEND-12", "STREAM-2"], (when: When) => admitDespite("budget_exhausted", when), {
    "spend.budget-never-enforced": { summary: "Budgets of child keys are never enforced.", with: always },
    "spend.budget-ignored-on-stream": {
      summary: "Budgets of child keys are not checked for streams.",
      with: streaming,
    },
    "spend.budget-ignored-on-messages": {
      summary: "Budgets of child keys are not checked on the messages endpoint.",
      with: onMessages,
    },
    "spend.budget-ignored-now-and-then": {
      breaks: [...BUDGET, "STREAM-2"],
      summary: "Every fourth request of a key with an exhausted budget is served.",
      with: every(4, (call) => call.key?.budgetMicroUsd !== undefined),
    },
  }),
  mutation("spend.budget-back-after-retry-after", {
    breaks: BUDGET,
    summary: "An exhausted budget has a Retry-After and is refilled after it.",
    apply: all(
      wrap(
        "retryAfter",
        (next) => (refused, call) => (refused.reason === "budget_exhausted" ? "2" : next(refused, call)),
      ),
      wrap("budgetUsed", (next) => {
        const first = remembered(() => new Map<string, number>());
        return (key, call) => {
          if (!next(key, call)) return false;
          const nowUs = call.services.clock.monotonicUs();
          if (!first(call).has(key.id)) first(call).set(key.id, nowUs);
          return nowUs - (first(call).get(key.id) ?? nowUs) < 1_900_000;
        };
      }),
    ),
  }),
  mutation("spend.children-share-a-pot", {
    breaks: ["SPEND-9", "SPEND-13"],
    summary: "Once a child key exhausts its budget, every other child key of the account is denied.",
    apply: wrap("budgetUsed", (next) => {
      // Except keys that were exhausted before the first request.
      const unused = remembered(() => new Set<string>());
      const emptied = remembered(() => new Set<object>());
      return (key, call) => {
        if (key.budgetMicroUsd === undefined) return false;
        const used = next(key, call);
        if (!used) unused(call).add(key.id);
        else if (unused(call).has(key.id)) emptied(call).add(key.account);
        return used || emptied(call).has(key.account);
      };
    }),
    shownBy: "checks",
  }),
  mutation("spend.budget-back-next-day", {
    breaks: ["SPEND-8"],
    summary: "Budgets of child keys reset every day.",
    apply: wrap(
      "budgetUsed",
      () => (key, call) =>
        key.budgetMicroUsd !== undefined &&
        key.spend.onDay(call.behaviour.capDay(call), call.services.clock.monotonicUs()) +
          call.behaviour.heldBack(key, call) >=
          key.budgetMicroUsd,
    ),
  }),
  ...grid(["SPEND-7"], dayBy, {
    "spend.cap-never-resets": { summary: "Daily caps never reset.", with: () => 0 },
    "spend.cap-resets-hourly": {
      summary: "Daily caps reset every hour.",
      with: (nowMs, startMs) => Math.floor(nowMs / HOUR_MS) - Math.floor(startMs / HOUR_MS),
    },
  }),
  ...grid(["SPEND-7"], shiftedDay, {
    "spend.cap-resets-eight-hours-early": { summary: "Daily caps reset eight hours before midnight UTC.", with: -8 },
    "spend.cap-resets-five-hours-late": { summary: "Daily caps reset five hours after midnight UTC.", with: 5 },
  }),
  mutation("spend.cap-resets-after-denial", {
    breaks: [...QUOTA, "SPEND-7"],
    summary: "Three seconds after a daily cap denial, the key is served again.",
    apply: wrap("capReached", (next) => {
      const denied = remembered(() => new Map<string, number>());
      return (key, call) => {
        if (!next(key, call)) return false;
        const nowUs = call.services.clock.monotonicUs();
        if (!denied(call).has(key.id)) denied(call).set(key.id, nowUs);
        return nowUs - (denied(call).get(key.id) ?? nowUs) < 3_000_000;
      };
    }),
  }),
  mutation("spend.cap-stale-after-reset", {
    breaks: ["SPEND-7"],
    summary: "A key that was denied for its daily cap is still denied the next day.",
    apply: wrap("capReached", (next) => {
      const denied = remembered(() => new Set<string>());
      return (key, call) => {
        if (next(key, call)) denied(call).add(key.id);
        return denied(call).has(key.id);
      };
    }),
  }),
];

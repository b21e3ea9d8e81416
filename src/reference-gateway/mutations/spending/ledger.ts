import { grid, type Mutation, mutation } from "../../change.ts";
import { chargesFor, costsAs, countsAs, onLedgerRows, pricedAt, recordsAs } from "../../edits/ledger-edits.ts";
import { onRelayedReply } from "../../edits/provider-edits.ts";
import { always, both, nonStreaming, onChat, onMessages, streaming, type When } from "../../edits/when.ts";
import { wrap } from "../../edits/wrap.ts";
import type { Activity } from "../../history.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Price } from "../../providers/model-table.ts";
import { relayedModel } from "../../providers/model-table.ts";
import type { Usage } from "../../relay/usage.ts";

const SHOWN = { shownBy: "checks" } as const;
const WRONG_COST = ["LEDGER-COST"];
const WRONG_TOKENS = ["LEDGER-TOKENS", "LEDGER-USAGE", "LEDGER-COST"];
const COST = { detectedBy: { "ledger.cost": "LEDGER-COST" } } as const;
const TOKENS = { detectedBy: { "ledger.tokens": "LEDGER-TOKENS", "ledger.cost": "LEDGER-COST" } } as const;
const ONCE = { detectedBy: { "ledger.once": "LEDGER-ONCE" } } as const;

/** Charge for a failed attempt, micro-dollars. */
const ATTEMPT_FEE = 2_000;
/** A tenth of a cent, micro-dollars. */
const TENTH_OF_CENT = 1_000;
const LATE_MS = 180_000;

const ofAttempts = ({ failedAttempts }: Call, row: Activity): number =>
  row.outcome === "complete" ? failedAttempts : 0;

/** A failed request is charged. */
const billsFailures = (when: When) =>
  recordsAs((row, call) => [row.outcome === "failed" && when(call) ? { ...row, chargeMicroUsd: ATTEMPT_FEE } : row]);

/** A ledger that disagrees with what was served, and with itself. */
export const LEDGER_MUTATIONS: readonly Mutation[] = [
  mutation("ledger.attempts-charged", {
    ...SHOWN,
    ...ONCE,
    breaks: ["LEDGER-ONCE"],
    summary: "Each failed attempt at a provider is charged in addition to the one that serves.",
    apply: recordsAs((row, call) => [
      row,
      ...Array.from({ length: ofAttempts(call, row) }, () => ({
        ...row,
        chargeMicroUsd: ATTEMPT_FEE,
        outputTokens: 0,
      })),
    ]),
  }),
  mutation("ledger.failover-charged-twice", {
    ...SHOWN,
    ...ONCE,
    breaks: ["LEDGER-ONCE"],
    mayBreak: ["LEDGER-COST"],
    summary: "A stream that another provider serves is charged for both providers.",
    apply: recordsAs((row, call) => (streaming(call) && ofAttempts(call, row) > 0 ? [row, row] : [row])),
  }),
  mutation("ledger.repeats-rows", {
    ...SHOWN,
    ...ONCE,
    breaks: ["LEDGER-ONCE"],
    mayBreak: ["LEDGER-COST"],
    summary: "The first row is listed again at the end.",
    apply: onLedgerRows((rows) => [...rows, ...rows.slice(0, 1)]),
  }),
  mutation("ledger.row-of-another-key", {
    ...SHOWN,
    ...ONCE,
    breaks: ["LEDGER-ONCE"],
    summary: "The ledger of a key also lists a request of another key.",
    apply: onLedgerRows((rows) => [
      ...rows,
      ...rows.slice(0, 1).map((row) => ({ ...row, keyId: "key_1", requestId: "req_other", inputTokens: 777 })),
    ]),
  }),
  mutation("ledger.charged-for-nothing", {
    ...SHOWN,
    ...ONCE,
    breaks: ["LEDGER-ONCE"],
    summary: "A fee is charged that belongs to no request.",
    apply: onLedgerRows((rows) => [
      ...rows,
      ...rows.slice(0, 1).map((row) => ({ ...row, requestId: "fee", inputTokens: 0, outputTokens: 0 })),
    ]),
  }),
  ...grid(["SPEND-10"], billsFailures, {
    "ledger.failures-charged": {
      ...SHOWN,
      detectedBy: { "ledger.failures": "SPEND-10" },
      summary: "Requests that all providers fail are charged a small amount.",
      with: nonStreaming,
    },
    "ledger.failed-streams-charged": {
      ...SHOWN,
      detectedBy: { "ledger.failures": "SPEND-10" },
      summary: "Streams that all providers refuse are charged a small amount.",
      with: streaming,
    },
  }),
  ...grid(
    ["SPEND-1"],
    (isMissing: (row: Activity) => boolean) => onLedgerRows((rows) => rows.filter((row) => !isMissing(row))),
    {
      "ledger.streams-without-row": {
        ...SHOWN,
        detectedBy: { "ledger.charged": "SPEND-1" },
        mayBreak: ["LEDGER-LAG"],
        summary: "Streams have no row in the ledger.",
        with: ({ stream }) => stream,
      },
      "ledger.cached-without-row": {
        ...SHOWN,
        detectedBy: { "ledger.charged": "SPEND-1" },
        mayBreak: ["LEDGER-LAG"],
        summary: "Requests on the messages endpoint with a cached input have no row in the ledger.",
        with: ({ endpoint, cachedTokens }) => endpoint === "messages" && cachedTokens > 0,
      },
    },
  ),
  ...grid(WRONG_COST, ({ when, edit }: { when: When; edit: (microUsd: number) => number }) => costsAs(when, edit), {
    "ledger.free-on-chat": {
      ...SHOWN,
      breaks: ["SPEND-1", "LEDGER-COST"],
      detectedBy: { "ledger.charged": "SPEND-1", "ledger.cost": "LEDGER-COST" },
      summary: "Non-streaming chat requests are recorded and cost nothing.",
      with: { when: both(onChat, nonStreaming), edit: () => 0 },
    },
    "ledger.negative-cost": {
      ...SHOWN,
      breaks: ["SPEND-1", "LEDGER-COST"],
      detectedBy: { "ledger.charged": "SPEND-1" },
      summary: "Requests on the messages endpoint are credited instead of charged.",
      with: { when: both(onMessages, nonStreaming), edit: (microUsd) => -microUsd },
    },
    "ledger.rounds-up": {
      ...SHOWN,
      // More expensive requests overspend a budget by more.
      mayBreak: ["SPEND-6"],
      detectedBy: { "ledger.rounding": "LEDGER-COST" },
      summary: "Each request is charged in full tenths of a cent.",
      with: { when: always, edit: (microUsd) => Math.ceil(microUsd / TENTH_OF_CENT) * TENTH_OF_CENT },
    },
    "ledger.rounds-down": {
      ...SHOWN,
      detectedBy: { "ledger.rounding": "LEDGER-COST" },
      summary: "Parts of a tenth of a cent are not charged.",
      with: { when: always, edit: (microUsd) => Math.floor(microUsd / TENTH_OF_CENT) * TENTH_OF_CENT },
    },
  }),
  ...grid(WRONG_COST, (when: When) => chargesFor(when, () => ({ cachedTokens: 0 })), {
    "ledger.streams-without-cache-discount": {
      ...SHOWN,
      ...COST,
      summary: "Cached input is charged in full on streams.",
      with: streaming,
    },
    "ledger.messages-without-cache-discount": {
      ...SHOWN,
      ...COST,
      summary: "Cached input is charged in full on the messages endpoint.",
      with: both(onMessages, nonStreaming),
    },
  }),
  ...grid(WRONG_COST, (edit: (price: Price) => Partial<Price>) => pricedAt(edit), {
    "ledger.cache-writes-at-read-price": {
      ...SHOWN,
      ...COST,
      summary: "Cache writes cost as little as cache reads.",
      with: ({ perInputToken, perCachedToken = perInputToken }) => ({
        perCacheWrite5mToken: perCachedToken,
        perCacheWrite1hToken: perCachedToken,
      }),
    },
    "ledger.hour-writes-at-short-price": {
      ...SHOWN,
      ...COST,
      summary: "Cache writes for an hour cost as much as those for five minutes.",
      with: ({ perInputToken, perCacheWrite5mToken = perInputToken }) => ({
        perCacheWrite1hToken: perCacheWrite5mToken,
      }),
    },
    "ledger.output-at-input-price": {
      ...SHOWN,
      ...COST,
      summary: "Output costs as much as input.",
      with: ({ perInputToken }) => ({ perOutputToken: perInputToken }),
    },
  }),
  mutation("ledger.alias-at-default-price", {
    ...SHOWN,
    breaks: WRONG_COST,
    detectedBy: { "ledger.models": "LEDGER-COST" },
    summary: "A model under an alias costs as much as the default model.",
    apply: wrap(
      "cost",
      (next) => (model, usage, call) =>
        next(model.aliasOf === undefined ? model : { ...model, price: relayedModel(model.id).price }, usage, call),
    ),
  }),
  ...grid(
    WRONG_TOKENS,
    ({ when = always, edit }: { when?: When; edit: (usage: Usage, call: Call) => Partial<Usage> }) =>
      countsAs(when, edit),
    {
      "ledger.reasoning-not-billed": {
        ...SHOWN,
        ...TOKENS,
        summary: "Reasoning is neither recorded nor charged.",
        with: {
          edit: ({ outputTokens, reasoningTokens }) => ({
            outputTokens: outputTokens - reasoningTokens,
            reasoningTokens: 0,
          }),
        },
      },
      "ledger.reasoning-twice": {
        ...SHOWN,
        ...TOKENS,
        summary: "Reasoning is added to the output that already contains it.",
        with: { edit: ({ outputTokens, reasoningTokens }) => ({ outputTokens: outputTokens + reasoningTokens }) },
      },
      "ledger.stream-output-twice": {
        ...SHOWN,
        ...TOKENS,
        summary: "The output of streams is recorded and charged twice.",
        with: { when: streaming, edit: ({ outputTokens }) => ({ outputTokens: outputTokens * 2 }) },
      },
      "ledger.cache-reads-not-recorded": {
        ...SHOWN,
        ...TOKENS,
        summary: "Cached input is recorded and charged like any other.",
        with: { edit: () => ({ cachedTokens: 0 }) },
      },
      "ledger.cache-reads-twice": {
        ...SHOWN,
        ...TOKENS,
        summary: "Cached input on the messages endpoint is added to an input that already contains it.",
        with: {
          when: onMessages,
          edit: ({ inputTokens, cachedTokens }) => ({ inputTokens: inputTokens + cachedTokens }),
        },
      },
      "ledger.streams-estimated": {
        ...SHOWN,
        ...TOKENS,
        summary: "The tokens of streams are estimated from the prompt, although the provider counts them.",
        with: {
          when: streaming,
          edit: (_usage, { plan }) => ({
            inputTokens: plan?.kind === "relay" ? plan.inputTokens : 0,
            cachedTokens: 0,
            cacheWrite5mTokens: 0,
            cacheWrite1hTokens: 0,
          }),
        },
      },
      "ledger.longest-reply-charged": {
        ...SHOWN,
        ...TOKENS,
        summary: "Non-streaming replies are charged at their maximum length.",
        with: {
          when: nonStreaming,
          edit: (_usage, { plan }) => ({ outputTokens: plan?.kind === "relay" ? plan.mostOutputTokens : 0 }),
        },
      },
    },
  ),
  mutation("ledger.tells-less", {
    ...SHOWN,
    breaks: ["LEDGER-USAGE", "UPSTREAM-USAGE"],
    mayBreak: ["COUNTS-ADD-UP"],
    detectedBy: { "ledger.usage": "LEDGER-USAGE" },
    summary: "Replies state less output than the ledger records.",
    apply: onRelayedReply((reply, call) => {
      const usage = (reply["usage"] ?? {}) as Record<string, number>;
      const name = call.dialect === "messages" ? "output_tokens" : "completion_tokens";
      return { ...reply, usage: { ...usage, [name]: Math.max(1, (usage[name] ?? 1) - 3) } };
    }),
  }),
  mutation("ledger.totals-without-streams", {
    ...SHOWN,
    breaks: ["LEDGER-TOTALS"],
    detectedBy: { "ledger.totals": "LEDGER-TOTALS" },
    summary: "The totals of the ledger do not include streams.",
    apply: wrap("ledgerTotals", (next) => (rows) => next(rows.filter(({ stream }) => !stream))),
  }),
  mutation("ledger.minutes-late", {
    ...SHOWN,
    breaks: ["LEDGER-LAG"],
    detectedBy: { "ledger.lag": "LEDGER-LAG" },
    summary: "Requests appear in the ledger after three minutes.",
    apply: wrap("ledgerLagMs", () => () => LATE_MS),
  }),
  mutation("ledger.streams-minutes-late", {
    ...SHOWN,
    breaks: ["LEDGER-LAG", "SPEND-1"],
    detectedBy: { "ledger.lag": "LEDGER-LAG" },
    summary: "Streams appear in the ledger after three minutes.",
    apply: wrap("ledgerLagMs", (next) => (row) => (row.stream ? LATE_MS : next(row))),
  }),
];

import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
import {
  crowded,
  multiTurn,
  nonStreaming,
  onChat,
  once,
  onMessages,
  remembered,
  streaming,
  type When,
} from "../../edits/when.ts";
import { type Apply, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Closing } from "../../pipeline/outcome.ts";
import { costOf } from "../../providers/model-table.ts";

/** Micro-dollars that a request without a model or a reply is charged by mistake. */
const FLAT_FEE = 115;

/** Some requests are not charged. */
const free = (when: When): Apply => wrap("charge", (next) => (call, closing) => (when(call) ? 0 : next(call, closing)));

/** Some failed requests are charged. */
const billed = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("charge", (next) => (call, closing) => {
    const charge = next(call, closing);
    if (charge > 0 || call.key === undefined || !when(call, closing)) return charge;
    return call.model === undefined
      ? FLAT_FEE
      : Math.max(FLAT_FEE, costOf(call.model, { outputTokens: closing.deliveredTokens }));
  });

const EVERY_KIND = ["SPEND-12"];
/** A declared ledger shows that plain requests are not charged. */
const CHARGED = ["SPEND-1", ...EVERY_KIND];
const withoutUsage: When = (call) => streaming(call) && onChat(call) && call.request?.includeUsage === false;
const longStream: When = (call) =>
  streaming(call) && (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000 > 1_000;

/** By key, the most that it had reserved, micro-dollars. */
const mostReserved = remembered(() => new Map<string, number>());

/** Decided when the request is checked. */
const wasCrowded = once(crowded(8));

/** What is charged, and when it becomes visible. */
export const CHARGE_MUTATIONS: readonly Mutation[] = [
  ...grid(EVERY_KIND, free, {
    "charge.streams-free": { breaks: CHARGED, summary: "Streams are free.", with: streaming },
    "charge.streams-without-usage-free": {
      summary: "Streams that did not request usage are free.",
      with: withoutUsage,
    },
    "charge.long-streams-free": {
      summary: "Streams longer than a second lose their reservation and are never charged.",
      with: longStream,
      shownBy: ["lasting"],
    },
    "charge.conversations-free": {
      summary: "Multi-turn conversations are never charged.",
      with: multiTurn,
      shownBy: "checks",
    },
    "charge.cut-replies-free": {
      summary: "Replies truncated by max_tokens count as failures and are never charged.",
      with: (call) => call.plan?.kind === "reply" && call.plan.stop === "length",
      shownBy: "checks",
    },
    "charge.messages-free": {
      breaks: CHARGED,
      summary: "Requests on the messages endpoint are never charged.",
      with: onMessages,
    },
    "charge.chat-free": {
      breaks: CHARGED,
      summary: "Non-streaming chat requests are never charged.",
      with: (call) => onChat(call) && nonStreaming(call),
    },
    "charge.message-streams-free": {
      breaks: CHARGED,
      summary: "Streams on the messages endpoint are never charged.",
      with: (call) => onMessages(call) && streaming(call),
    },
    "charge.nothing": {
      breaks: ["SPEND-1", "SPEND-5", "SPEND-12"],
      summary: "Nothing is ever charged.",
      with: () => true,
    },
  }),
  ...grid(["SPEND-10"], billed, {
    "charge.failures": {
      summary: "Requests whose provider failed are charged.",
      with: (_call, { outcome }) => outcome === "failed",
    },
    "charge.denials": { summary: "Denied requests are charged.", with: (_call, { outcome }) => outcome === "denied" },
    "charge.bad-bodies": {
      summary: "Requests rejected for their body are charged.",
      with: (call) => call.refused?.reason === "invalid_request",
      detectedBy: { "spending.budget-failures-are-free": "SPEND-10" },
    },
    "charge.unknown-models": {
      summary: "Requests for unknown models are charged.",
      with: (call) => call.refused?.reason === "model_not_found",
      detectedBy: { "spending.budget-failures-are-free": "SPEND-10" },
    },
    "charge.timeouts": {
      summary: "Requests whose provider timed out are charged.",
      with: (call) => call.refused?.reason === "upstream_timeout",
    },
  }),
  loadMutation("charge.parallel-overshoot", {
    breaks: ["SPEND-6"],
    detectedBy: { "spending.budget-parallel": "SPEND-6" },
    summary: "Requests in flight do not count: a parallel burst overshoots a cap or a budget.",
    apply: wrap("heldBack", () => () => 0),
  }),
  loadMutation("charge.settles-late", {
    breaks: ["SPEND-5", "SPEND-6", "SPEND-12"],
    summary: "Charges appear in the tallies ten minutes late.",
    apply: wrap("settlingLagMs", () => () => 600_000),
  }),
  loadMutation("charge.streams-settle-late", {
    breaks: ["SPEND-5", "SPEND-12"],
    summary: "Charges for streams appear in the tallies ten minutes late.",
    apply: wrap("settlingLagMs", (next) => (call) => (streaming(call) ? 600_000 : next(call))),
  }),
  mutation("charge.rest-unusable", {
    shownBy: "checks",
    breaks: ["SPEND-13"],
    detectedBy: { "spending.cap-parallel": "SPEND-13", "spending.budget-parallel": "SPEND-13" },
    mayBreak: ["SPEND-6"],
    summary: "What a key reserves for more than eight parallel requests is never released.",
    apply: wrap("heldBack", (next) => (key, call) => {
      const kept = mostReserved(call);
      const reserved = next(key, call);
      if (crowded(8)(call)) kept.set(key.id, Math.max(kept.get(key.id) ?? 0, reserved));
      return Math.max(reserved, kept.get(key.id) ?? 0);
    }),
  }),
  mutation("charge.parallel-charges-lost", {
    shownBy: "checks",
    breaks: ["SPEND-6"],
    detectedBy: { "spending.cap-parallel": "SPEND-6" },
    mayBreak: ["SPEND-5", "SPEND-12"],
    summary: "With more than eight requests in flight, charges do not count toward daily caps for ten minutes.",
    apply: wrap("settlingLagMs", (next) => (call) => (wasCrowded(call) ? 600_000 : next(call))),
  }),
];

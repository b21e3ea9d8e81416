import { loadMutation, type Mutation, mutation } from "../change.ts";
import { multiTurn, nonStreaming, onChat, onMessages, streaming, type When } from "../edits/when.ts";
import { type Apply, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Closing } from "../pipeline/outcome.ts";
import { costOf } from "../providers/model-table.ts";

/** Micro-dollars that a request without a model or a reply is charged by mistake. */
const FLAT_FEE = 115;

/** Some requests are not charged. */
const free = (when: When): Apply => wrap("charge", (next) => (call, closing) => (when(call) ? 0 : next(call, closing)));

/** Some failed requests are charged. */
const billed = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("charge", (next) => (call, closing) => {
    const charge = next(call, closing);
    if (charge > 0 || call.key === undefined || !when(call, closing)) return charge;
    return call.model === undefined ? FLAT_FEE : Math.max(FLAT_FEE, costOf(call.model, 0, closing.deliveredTokens));
  });

const EVERY_KIND = ["SPEND-12"];
const withoutUsage: When = (call) => streaming(call) && onChat(call) && call.request?.includeUsage === false;
const longStream: When = (call) =>
  streaming(call) && (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000 > 1_000;

/** What is charged, and when it becomes visible. */
export const CHARGE_MUTATIONS: readonly Mutation[] = [
  mutation("charge.streams-free", EVERY_KIND, "Streams are free.", free(streaming)),
  mutation(
    "charge.streams-without-usage-free",
    EVERY_KIND,
    "Streams that did not request usage are free.",
    free(withoutUsage),
  ),
  mutation(
    "charge.long-streams-free",
    EVERY_KIND,
    "Streams longer than a second lose their reservation and are never charged.",
    free(longStream),
  ),
  mutation("charge.conversations-free", EVERY_KIND, "Multi-turn conversations are never charged.", free(multiTurn)),
  mutation(
    "charge.cut-replies-free",
    EVERY_KIND,
    "Replies truncated by max_tokens count as failures and are never charged.",
    free((call) => call.plan?.kind === "reply" && call.plan.stop === "length"),
  ),
  mutation(
    "charge.messages-free",
    EVERY_KIND,
    "Requests on the messages endpoint are never charged.",
    free(onMessages),
  ),
  mutation(
    "charge.chat-free",
    EVERY_KIND,
    "Non-streaming chat requests are never charged.",
    free((call) => onChat(call) && nonStreaming(call)),
  ),
  mutation(
    "charge.message-streams-free",
    EVERY_KIND,
    "Streams on the messages endpoint are never charged.",
    free((call) => onMessages(call) && streaming(call)),
  ),
  mutation(
    "charge.nothing",
    // Not SPEND-1: charges are not visible in this interface, and a key that is never denied may have a large cap.
    ["SPEND-5", "SPEND-12"],
    "Nothing is ever charged.",
    free(() => true),
  ),
  mutation(
    "charge.failures",
    ["SPEND-10"],
    "Requests whose provider failed are charged.",
    billed((_call, { outcome }) => outcome === "failed"),
  ),
  mutation(
    "charge.denials",
    ["SPEND-10"],
    "Denied requests are charged.",
    billed((_call, { outcome }) => outcome === "denied"),
  ),
  mutation(
    "charge.bad-bodies",
    ["SPEND-10"],
    "Requests rejected for their body are charged.",
    billed((call) => call.refused?.reason === "invalid_request"),
  ),
  mutation(
    "charge.unknown-models",
    ["SPEND-10"],
    "Requests for unknown models are charged.",
    billed((call) => call.refused?.reason === "model_not_found"),
  ),
  mutation(
    "charge.timeouts",
    ["SPEND-10"],
    "Requests whose provider timed out are charged.",
    billed((call) => call.refused?.reason === "upstream_timeout"),
  ),
  loadMutation(
    "charge.parallel-overshoot",
    ["SPEND-6"],
    "Requests in flight do not count: a parallel burst overshoots a cap or a budget.",
    wrap("heldBack", () => () => 0),
  ),
  loadMutation(
    "charge.settles-late",
    ["SPEND-5", "SPEND-6", "SPEND-12"],
    "Charges appear in the tallies ten minutes late.",
    wrap("settlingLagMs", () => () => 600_000),
  ),
  loadMutation(
    "charge.streams-settle-late",
    ["SPEND-5", "SPEND-12"],
    "Charges for streams appear in the tallies ten minutes late.",
    wrap("settlingLagMs", (next) => (call) => (streaming(call) ? 600_000 : next(call))),
  ),
];

import { loadMutation, type Mutation, mutation } from "../change.ts";
import {
  after,
  both,
  every,
  fresh,
  onEmptyAccount,
  onMessages,
  secondKey,
  streaming,
  type When,
} from "../edits/when.ts";
import { type Apply, overlook, wrap } from "../edits/wrap.ts";
import { refusal } from "../pipeline/refusal.ts";

const CREDITS = ["ERR-402-CREDITS", "SPEND-2"];

const smallLimit: When = (call) => (call.request?.maxTokens ?? Number.POSITIVE_INFINITY) <= 16;

/** Some requests are denied for lack of funds although there are enough. */
const phantom = (reason: "quota_exceeded" | "insufficient_credits" | "budget_exhausted", when: When): Apply =>
  wrap(
    "check",
    (next) => (name, call) => next(name, call) ?? (name === "spending" && when(call) ? refusal(reason) : undefined),
  );

/** An exhausted balance that is not enforced, and denials for lack of funds without a reason. */
export const BALANCE_MUTATIONS: readonly Mutation[] = [
  mutation(
    "spend.empty-account-streams",
    [...CREDITS, "STREAM-2"],
    "An account with no balance can still stream.",
    overlook("insufficient_credits", streaming),
  ),
  mutation(
    "spend.empty-account-on-messages",
    [...CREDITS, "STREAM-2"],
    "The messages endpoint does not check the balance.",
    overlook("insufficient_credits", onMessages),
  ),
  mutation(
    "spend.empty-account-second-key",
    ["SPEND-2"],
    "Only the first key of an account with no balance is denied.",
    overlook("insufficient_credits", secondKey),
  ),
  mutation(
    "spend.empty-account-small-requests",
    CREDITS,
    "Requests with a small max_tokens are served with no balance.",
    overlook("insufficient_credits", smallLimit),
  ),
  mutation(
    "spend.empty-account-after-three",
    [...CREDITS, "STREAM-2"],
    "After three denials, an account with no balance is served again.",
    overlook("insufficient_credits", after(3, onEmptyAccount)),
  ),
  mutation(
    "spend.empty-account-now-and-then",
    [...CREDITS, "STREAM-2"],
    "Every fifth request of an account with no balance is served.",
    overlook("insufficient_credits", every(5, onEmptyAccount)),
  ),
  mutation(
    "spend.empty-account-fresh-connection",
    [...CREDITS, "STREAM-2"],
    "The first request on a connection is served with no balance.",
    overlook("insufficient_credits", fresh),
  ),
  loadMutation(
    "spend.phantom-cap",
    ["SPEND-13"],
    "Every sixtieth request is denied for a daily cap that the key does not have.",
    phantom("quota_exceeded", every(60)),
  ),
  loadMutation(
    "spend.phantom-credits",
    ["SPEND-13"],
    "Every eightieth request is denied for an exhausted balance.",
    phantom("insufficient_credits", every(80)),
  ),
  loadMutation(
    "spend.phantom-budget-when-busy",
    ["SPEND-13"],
    "With more than sixteen requests in flight, streams are denied for an exhausted budget.",
    phantom(
      "budget_exhausted",
      both(streaming, (call) => (call.key?.account.concurrency.held ?? 0) > 16),
    ),
  ),
  mutation(
    "spend.phantom-cap-on-second-key",
    ["SPEND-13"],
    "After twenty requests, an account's second key is denied for a daily cap that it does not have.",
    phantom("quota_exceeded", after(20, secondKey)),
  ),
];

import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
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
} from "../../edits/when.ts";
import { type Apply, admitDespite, wrap } from "../../edits/wrap.ts";
import { refusal } from "../../pipeline/refusal.ts";

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
  ...grid([...CREDITS, "STREAM-2"], (when: When) => admitDespite("insufficient_credits", when), {
    "spend.empty-account-streams": { summary: "An account with no balance can still stream.", with: streaming },
    "spend.empty-account-on-messages": {
      summary: "The messages endpoint does not check the balance.",
      with: onMessages,
    },
    "spend.empty-account-second-key": {
      breaks: ["SPEND-2"],
      summary: "Only the first key of an account with no balance is denied.",
      with: secondKey,
      mayBreak: ["ERR-402-CREDITS", "STREAM-2"],
    },
    "spend.empty-account-small-requests": {
      breaks: CREDITS,
      summary: "Requests with a small max_tokens are served with no balance.",
      with: smallLimit,
    },
    "spend.empty-account-after-three": {
      summary: "After three denials, an account with no balance is served again.",
      with: after(3, onEmptyAccount),
    },
    "spend.empty-account-now-and-then": {
      summary: "Every fifth request of an account with no balance is served.",
      with: every(5, onEmptyAccount),
    },
    "spend.empty-account-fresh-connection": {
      summary: "The first request on a connection is served with no balance.",
      with: fresh,
    },
  }),
  loadMutation("spend.phantom-cap", {
    breaks: ["SPEND-13"],
    summary: "Every sixtieth request is denied for a daily cap that the key does not have.",
    apply: phantom("quota_exceeded", every(60)),
  }),
  loadMutation("spend.phantom-credits", {
    breaks: ["SPEND-13"],
    summary: "Every eightieth request is denied for an exhausted balance.",
    apply: phantom("insufficient_credits", every(80)),
  }),
  loadMutation("spend.phantom-budget-when-busy", {
    breaks: ["SPEND-13"],
    summary: "With more than sixteen requests in flight, streams are denied for an exhausted budget.",
    apply: phantom(
      "budget_exhausted",
      both(streaming, (call) => (call.key?.account.concurrency.held ?? 0) > 16),
    ),
  }),
  mutation("spend.phantom-cap-on-second-key", {
    breaks: ["SPEND-13"],
    summary: "After twenty requests, an account's second key is denied for a daily cap that it does not have.",
    apply: phantom("quota_exceeded", after(20, secondKey)),
  }),
];

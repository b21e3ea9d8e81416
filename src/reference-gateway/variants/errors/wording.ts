import { type Variant, variant } from "../../change.ts";
import { ACTION_HEADER, body, dropHeader, edits, REASON_HEADER } from "../../edits/replies/response-edits.ts";
import { always } from "../../edits/when.ts";
import { onDenial } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { DENIALS, type Reason, type Refusal, refusal } from "../../pipeline/refusal.ts";

interface Wording {
  /** The message of a denial, which differs for each key, request and model. */
  readonly text: (refused: Refusal, call: Call) => string;
  /** How a contract recognises it. */
  readonly message: string | { readonly pattern: string };
}

const keyOf = (call: Call): string => call.key?.id ?? "none";

/** The wording of a denial, if it is not the usual one. */
const WORDINGS: Partial<Record<Reason, Wording>> = {
  invalid_api_key: {
    text: (_refused, call) => `Incorrect API key provided in request ${call.id}.`,
    message: "Incorrect API key provided",
  },
  key_revoked: {
    text: (_refused, call) => `API key '${keyOf(call)}' has been revoked by its owner.`,
    message: { pattern: "^API key '[^']*' has been revoked" },
  },
  insufficient_credits: {
    text: (_refused, call) => `The organization of key '${keyOf(call)}' has no credits left.`,
    message: "has no credits left",
  },
  quota_exceeded: {
    text: (_refused, call) => `Key '${keyOf(call)}' has spent its allowance for today.`,
    message: "has spent its allowance for today",
  },
  model_not_found: {
    text: (_refused, call) => `No deployment serves the model of request ${call.id}.`,
    message: "No deployment serves the model",
  },
  rate_limit_exceeded: {
    text: ({ rate }, call) => `Limit reached for key '${keyOf(call)}': ${rate?.limit ?? 0} requests per minute.`,
    message: { pattern: "^Limit reached for key '[^']*': \\d+ requests per minute" },
  },
  concurrency_limit_exceeded: {
    text: (_refused, call) =>
      `Limit reached for key '${keyOf(call)}': ${call.key?.account.limits.inFlight ?? 0} requests in parallel.`,
    message: { pattern: "^Limit reached for key '[^']*': \\d+ requests in parallel" },
  },
  budget_exhausted: {
    text: (_refused, call) => `Key '${keyOf(call)}' has spent its allowance for good.`,
    message: { pattern: "^Key '[^']*' has spent its allowance for good" },
  },
};

/** Gateways whose denials are recognised by a contract of the target file. */
export const WORDING_VARIANTS: readonly Variant[] = [
  {
    ...variant(
      "wording.text-only",
      "Denials have no reason, only different messages, which contain the key, the request or the limit.",
      onDenial(DENIALS, always, (response, call) => {
        const { refusal: refused } = response;
        if (refused === undefined) return response;
        const inWords = body((value) => {
          const { error, ...others } = value as { readonly error: object };
          return {
            ...others,
            error: {
              ...error,
              type: "error",
              message: WORDINGS[refused.reason]?.text(refused, call) ?? refused.message,
            },
          };
        });
        return edits(dropHeader(REASON_HEADER, ACTION_HEADER), inWords)(response, call);
      }),
    ),
    contract: {
      actionHint: false,
      denials: Object.fromEntries(
        DENIALS.map((reason) => [reason, { message: WORDINGS[reason]?.message ?? refusal(reason).message }]),
      ),
    },
  },
];

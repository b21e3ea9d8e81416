import { type Variant, variant } from "../change.ts";
import { ACTION_HEADER, body, dropHeader, edits, REASON_HEADER } from "../edits/replies/response-edits.ts";
import { always } from "../edits/when.ts";
import { DENIALS, onDenial } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Reason, Refusal } from "../pipeline/refusal.ts";

/** Caller-specific text of a denial: it differs for each key, request and model. */
function sentenceOf({ reason, rate }: Refusal, call: Call): string {
  const key = call.key?.id ?? "none";
  const { inFlight = 0 } = call.key?.account.limits ?? {};
  const sentences: Partial<Record<Reason, string>> = {
    invalid_api_key: `Incorrect API key provided in request ${call.id}.`,
    key_revoked: `API key '${key}' has been revoked by its owner.`,
    insufficient_credits: `The organization of key '${key}' has no credits left.`,
    quota_exceeded: `Key '${key}' has spent its allowance for today.`,
    model_not_found: `No deployment serves the model of request ${call.id}.`,
    rate_limit_exceeded: `Limit reached for key '${key}': ${rate?.limit ?? 0} requests per minute.`,
    concurrency_limit_exceeded: `Limit reached for key '${key}': ${inFlight} requests in parallel.`,
    budget_exhausted: `Key '${key}' has spent its allowance for good.`,
  };
  return sentences[reason] ?? reason;
}

/** Gateways whose denials are recognised by a contract of the target file. */
export const WORDING_VARIANTS: readonly Variant[] = [
  {
    ...variant(
      "wording.text-only",
      "Denials have no reason, only different messages, which contain the key, the request or the limit.",
      onDenial(DENIALS, always, (response, call) => {
        const { refusal } = response;
        if (refusal === undefined) return response;
        const inWords = body((value) => {
          const { error, ...others } = value as { readonly error: object };
          return { ...others, error: { ...error, type: "error", message: sentenceOf(refusal, call) } };
        });
        return edits(dropHeader(REASON_HEADER, ACTION_HEADER), inWords)(response, call);
      }),
    ),
    contract: {
      actionHint: false,
      denials: {
        invalid_api_key: { message: "Incorrect API key provided" },
        key_revoked: { message: { pattern: "^API key '[^']*' has been revoked" } },
        insufficient_credits: { message: "has no credits left" },
        quota_exceeded: { message: "has spent its allowance for today" },
        model_not_found: { message: "No deployment serves the model" },
        rate_limit_exceeded: { message: { pattern: "^Limit reached for key '[^']*': \\d+ requests per minute" } },
        concurrency_limit_exceeded: {
          message: { pattern: "^Limit reached for key '[^']*': \\d+ requests in parallel" },
        },
        budget_exhausted: { message: { pattern: "^Key '[^']*' has spent its allowance for good" } },
      },
    },
  },
];

import type { Response } from "../checks/index.ts";
import type { Reason } from "../requirements/index.ts";

/** A response to a deliberately invalid request. */
export interface DenialSample {
  /** The specification's reason; `undefined` for a rejected body, which is not a denial. */
  readonly reason: Reason | undefined;
  /** What was invalid, in words. */
  readonly kind: string;
  /** The same, with the path. */
  readonly what: string;
  /** Label of the key that was sent; `undefined` for none. Messages may depend on the key. */
  readonly key: string | undefined;
  /** The nonexistent model, which a message may repeat. */
  readonly unknownModel?: string;
  readonly response: Response;
}

/**
 * Whether samples vary enough that their common text is not an artefact of the tester: with two keys, with two unknown models,
 * or without a key.
 */
export function areVaried(samples: readonly DenialSample[]): boolean {
  if (samples.some(({ reason }) => reason === "model_not_found"))
    return new Set(samples.map(({ unknownModel }) => unknownModel)).size > 1;
  const keys = new Set(samples.map(({ key }) => key));
  return keys.size > 1 || (keys.has(undefined) && samples.length > 1);
}

import type { Response } from "../../checks/index.ts";
import type { Reason } from "../../requirements/index.ts";

/** A response to something that is wrong on purpose. */
export interface DenialSample {
  /** What the specification calls this denial; `undefined` for a refused body, which is none. */
  readonly reason: Reason | undefined;
  /** What was wrong, in words. */
  readonly kind: string;
  /** The same, with the path. */
  readonly what: string;
  /** The key that it was sent with, by a name of its own; `undefined` for none. A text may say something of the key. */
  readonly key: string | undefined;
  /** The model that there is not, which a text may repeat. */
  readonly unknownModel?: string;
  readonly response: Response;
}

/**
 * Whether samples show a denial often enough that what they have in common is not a name of the tester's: with two keys, with two unknown
 * models, or without a key.
 */
export function areVaried(samples: readonly DenialSample[]): boolean {
  if (samples.some(({ reason }) => reason === "model_not_found"))
    return new Set(samples.map(({ unknownModel }) => unknownModel)).size > 1;
  const keys = new Set(samples.map(({ key }) => key));
  return keys.size > 1 || (keys.has(undefined) && samples.length > 1);
}

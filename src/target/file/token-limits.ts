import * as z from "zod";
import type { Key } from "../key.ts";
import { headerName, keyReference, optional } from "./value-schemas.ts";

/** What counts toward a limit on tokens per minute. */
const COUNTS = ["total", "prompt", "reserved"] as const;

/** A limit on tokens per minute as declared in the target file. */
export const tokenLimits = z.strictObject({
  tokensPerMinute: z.int().positive().meta({ description: "Tokens per minute." }),
  counts: optional(
    z.enum(COUNTS),
    "What counts: total, the prompt and completion tokens of the usage; prompt, only the prompt tokens; reserved, an estimate of the prompt plus max_tokens, when the request is admitted. Default total.",
  ),
  window: optional(
    z.enum(["fixed", "rolling"]),
    "Kind of 60-second window: fixed resets to zero when it ends; rolling covers the last 60 s. Unset: unknown, judged as fixed.",
  ),
  inFlightTokens: optional(
    z.int().nonnegative(),
    "Tokens that requests in flight may take beyond the limit, because their usage is not known yet. Default: 0 for prompt and reserved; for total unset means unknown, and not judged.",
  ),
  key: optional(keyReference, "Reference to a key that the limit holds for; default: the key of the rate checks."),
  remainingHeaders: optional(
    z.array(headerName).min(1),
    "Headers with the remaining tokens, e.g. x-ratelimit-remaining-tokens; the first one found is read.",
  ),
});

/** A limit on tokens per minute, with its defaults filled in. */
export interface TokenLimits {
  readonly tokensPerMinute: number;
  readonly counts: (typeof COUNTS)[number];
  /** `undefined`: unknown. */
  readonly window: "fixed" | "rolling" | undefined;
  /** Tokens that requests in flight may take beyond the limit; `undefined`: unknown. */
  readonly inFlightTokens: number | undefined;
  /** `undefined`: the key of the rate checks. */
  readonly key: Key | undefined;
  readonly remainingHeaders: readonly string[];
}

/** @param key the resolved reference in `written`. */
export function tokenLimitsOf(written: z.infer<typeof tokenLimits>, key: Key | undefined): TokenLimits {
  const { tokensPerMinute, counts = "total", window, inFlightTokens, remainingHeaders = [] } = written;
  return {
    tokensPerMinute,
    counts,
    window,
    inFlightTokens: inFlightTokens ?? (counts === "total" ? undefined : 0),
    key,
    remainingHeaders,
  };
}

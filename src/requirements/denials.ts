/** The denials of section 7, as data. A new one is one line here; the checks are generated from it. */
export interface DenialEntry {
  readonly reason: string;
  readonly status: 401 | 402 | 404 | 429;
  /** Id of the requirement for it. */
  readonly requirement: string;
  /**
   * `certain`: stated (8.P5). `expected`: the retry rule says "when present". `meaningless`: a Retry-After does not permit a
   * retry.
   */
  readonly retryAfter: "certain" | "expected" | "meaningless" | "none";
}

export const DENIALS = [
  { reason: "invalid_api_key", status: 401, requirement: "ERR-401-INVALID", retryAfter: "none" },
  { reason: "key_revoked", status: 401, requirement: "ERR-401-REVOKED", retryAfter: "none" },
  { reason: "insufficient_credits", status: 402, requirement: "ERR-402-CREDITS", retryAfter: "none" },
  { reason: "quota_exceeded", status: 402, requirement: "ERR-402-QUOTA", retryAfter: "none" },
  { reason: "model_not_found", status: 404, requirement: "ERR-404-MODEL", retryAfter: "none" },
  { reason: "rate_limit_exceeded", status: 429, requirement: "ERR-429-RATE", retryAfter: "certain" },
  { reason: "concurrency_limit_exceeded", status: 429, requirement: "ERR-429-CONC", retryAfter: "expected" },
  { reason: "budget_exhausted", status: 429, requirement: "ERR-429-BUDGET", retryAfter: "meaningless" },
] as const satisfies readonly DenialEntry[];

export type Reason = (typeof DENIALS)[number]["reason"];

export function denial(reason: Reason): (typeof DENIALS)[number] {
  const found = DENIALS.find((entry) => entry.reason === reason);
  if (found === undefined) throw new Error(`no denial is named ${reason}`);
  return found;
}

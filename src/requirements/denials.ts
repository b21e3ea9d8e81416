/**
 * The denials of section 7, as data. A new one is one line here; the checks are generated from it.
 */
export interface DenialEntry {
  readonly reason: string;
  readonly status: 401 | 402 | 404 | 429;
  /** Requirement that states the requirement. */
  readonly requirement: string;
  /** Whether waiting can help. `budget_exhausted` is a 429 and yet permanent. */
  readonly temporary: boolean;
  /** `certain`: stated (8.P5). `expected`: the retry rule says "when present". `meaningless`: a Retry-After does not permit a retry. */
  readonly retryAfter: "certain" | "expected" | "meaningless" | "none";
}

export const DENIALS = [
  { reason: "invalid_api_key", status: 401, requirement: "ERR-401-INVALID", temporary: false, retryAfter: "none" },
  { reason: "key_revoked", status: 401, requirement: "ERR-401-REVOKED", temporary: false, retryAfter: "none" },
  { reason: "insufficient_credits", status: 402, requirement: "ERR-402-CREDITS", temporary: false, retryAfter: "none" },
  { reason: "quota_exceeded", status: 402, requirement: "ERR-402-QUOTA", temporary: false, retryAfter: "none" },
  { reason: "model_not_found", status: 404, requirement: "ERR-404-MODEL", temporary: false, retryAfter: "none" },
  { reason: "rate_limit_exceeded", status: 429, requirement: "ERR-429-RATE", temporary: true, retryAfter: "certain" },
  {
    reason: "concurrency_limit_exceeded",
    status: 429,
    requirement: "ERR-429-CONC",
    temporary: true,
    retryAfter: "expected",
  },
  {
    reason: "budget_exhausted",
    status: 429,
    requirement: "ERR-429-BUDGET",
    temporary: false,
    retryAfter: "meaningless",
  },
] as const satisfies readonly DenialEntry[];

export type Reason = (typeof DENIALS)[number]["reason"];

export function denial(reason: Reason): (typeof DENIALS)[number] {
  const found = DENIALS.find((entry) => entry.reason === reason);
  if (found === undefined) throw new Error(`no denial is named ${reason}`);
  return found;
}

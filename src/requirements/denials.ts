/**
 * The denial rows of section 7, as data. A new row is one line here; the checks are generated from it.
 */
export interface DenialRow {
  readonly reason: string;
  readonly status: 401 | 402 | 404 | 429;
  /** Requirement that states the row. */
  readonly row: string;
  /** Whether waiting can help. `budget_exhausted` is a 429 and yet permanent. */
  readonly temporary: boolean;
  /** `certain`: stated (8.P5). `expected`: the retry rule says "when present". `meaningless`: a hint does not permit bypass. */
  readonly retryAfter: "certain" | "expected" | "meaningless" | "none";
}

export const DENIALS = [
  { reason: "invalid_api_key", status: 401, row: "ERR-401-INVALID", temporary: false, retryAfter: "none" },
  { reason: "key_revoked", status: 401, row: "ERR-401-REVOKED", temporary: false, retryAfter: "none" },
  { reason: "insufficient_credits", status: 402, row: "ERR-402-CREDITS", temporary: false, retryAfter: "none" },
  { reason: "quota_exceeded", status: 402, row: "ERR-402-QUOTA", temporary: false, retryAfter: "none" },
  { reason: "model_not_found", status: 404, row: "ERR-404-MODEL", temporary: false, retryAfter: "none" },
  { reason: "rate_limit_exceeded", status: 429, row: "ERR-429-RATE", temporary: true, retryAfter: "certain" },
  { reason: "concurrency_limit_exceeded", status: 429, row: "ERR-429-CONC", temporary: true, retryAfter: "expected" },
  { reason: "budget_exhausted", status: 429, row: "ERR-429-BUDGET", temporary: false, retryAfter: "meaningless" },
] as const satisfies readonly DenialRow[];

export type Reason = (typeof DENIALS)[number]["reason"];

export function denial(reason: Reason): (typeof DENIALS)[number] {
  const found = DENIALS.find((row) => row.reason === reason);
  if (found === undefined) throw new Error(`no denial row is named ${reason}`);
  return found;
}

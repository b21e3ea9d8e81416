/** The denials of section 7, as data. A new one is a row here. */
interface DenialEntry {
  readonly reason: string;
  readonly status: 401 | 402 | 404 | 429;
  /** Id of the requirement for it. */
  readonly requirement: string;
  /** Id of the requirement that an unjustified denial violates. */
  readonly unjustified: string;
  /** The limit that was reached: a 429 with this reason says which limit it is about. `spending` is the key's own cap or budget. */
  readonly limit?: "rate" | "concurrency" | "spending";
  /** The key for which every request must get this denial, and the requirement that says so. */
  readonly key?: readonly [name: string, requirement: string];
}

export const DENIALS = [
  { reason: "invalid_api_key", status: 401, requirement: "ERR-401-INVALID", unjustified: "AUTH-1" },
  {
    reason: "key_revoked",
    status: 401,
    requirement: "ERR-401-REVOKED",
    unjustified: "AUTH-1",
    key: ["revoked", "AUTH-4"],
  },
  {
    reason: "insufficient_credits",
    status: 402,
    requirement: "ERR-402-CREDITS",
    unjustified: "SPEND-13",
    key: ["empty", "SPEND-2"],
  },
  {
    reason: "quota_exceeded",
    status: 402,
    requirement: "ERR-402-QUOTA",
    unjustified: "SPEND-13",
    limit: "spending",
    key: ["capped", "SPEND-7"],
  },
  { reason: "model_not_found", status: 404, requirement: "ERR-404-MODEL", unjustified: "MODELS-4" },
  {
    reason: "rate_limit_exceeded",
    status: 429,
    requirement: "ERR-429-RATE",
    unjustified: "LIMIT-RATE-3",
    limit: "rate",
  },
  {
    reason: "concurrency_limit_exceeded",
    status: 429,
    requirement: "ERR-429-CONC",
    unjustified: "LIMIT-CONC-2",
    limit: "concurrency",
  },
  {
    reason: "budget_exhausted",
    status: 429,
    requirement: "ERR-429-BUDGET",
    unjustified: "SPEND-13",
    limit: "spending",
    key: ["childExhausted", "SPEND-8"],
  },
] as const satisfies readonly DenialEntry[];

export type Denial = (typeof DENIALS)[number];
export type Reason = Denial["reason"];

export function denial(reason: Reason): Denial {
  const found = DENIALS.find((entry) => entry.reason === reason);
  if (found === undefined) throw new Error(`no denial is named ${reason}`);
  return found;
}

/** Which limit was reached, by the reason of the denial. */
const LIMITS = new Map<string | undefined, NonNullable<DenialEntry["limit"]>>(
  DENIALS.flatMap((entry) => ("limit" in entry ? [[entry.reason, entry.limit] as const] : [])),
);

/** The limit that a denial with this reason is about; `undefined` if it is about none. */
export const limitOfReason = (reason: string | undefined): DenialEntry["limit"] => LIMITS.get(reason);

/** The limit of a denial that waiting resolves. Every other reason requires someone to act (retry rules 1 and 2). */
export function temporaryLimitOf(reason: string | undefined): "rate" | "concurrency" | undefined {
  const limit = limitOfReason(reason);
  return limit === "spending" ? undefined : limit;
}

type OfKey = Extract<Denial, { readonly key: unknown }>;

/** A key whose requests must all be denied. */
export type DeniedKey = OfKey["key"][0];

/** The keys whose requests must all be denied, with the reason and the requirement that says so. */
export const DENIED_KEYS = DENIALS.flatMap((entry) => {
  if (!("key" in entry)) return [];
  const [name, requirement] = entry.key;
  return [{ name, requirement, reason: entry.reason }];
});

/** The denial that every request with a key must get; `undefined` for a key that should be served. */
export function denialOfKey(key: DeniedKey): (typeof DENIED_KEYS)[number];
export function denialOfKey(key: string): (typeof DENIED_KEYS)[number] | undefined;
export function denialOfKey(key: string): (typeof DENIED_KEYS)[number] | undefined {
  return DENIED_KEYS.find(({ name }) => name === (key === "emptySecond" ? "empty" : key));
}

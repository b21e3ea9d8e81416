/** The values of a rate limit header: the limit that applies now and, if it lists its policies, each of them. */
export interface StatedRateLimit {
  readonly limit: number;
  /** Requests per minute that each policy allows. */
  readonly perMinute: readonly number[];
}

const PARAMETER = String.raw`\s*;\s*[\w-]+\s*=\s*(?:"[^"]*"|[^\s,;"]+)`;
const POLICY = String.raw`\d{1,15}(?:${PARAMETER})*`;
const VALUE = new RegExp(String.raw`^(\d{1,15})((?:\s*,\s*${POLICY})*)$`);
const EACH_POLICY = new RegExp(POLICY, "g");
const WINDOW = /;\s*w(?:indow)?\s*=\s*(\d{1,9})(?=\s*(?:;|$))/;
const MINUTE_S = 60;

/**
 * Reads `X-RateLimit-Limit`: a number, or a number with its policies as sent by Envoy, `20, 20;w=60`
 * (draft-ietf-httpapi-ratelimit-headers-03, 3.1).
 *
 * @returns `undefined` for anything else.
 */
export function readRateLimit(value: string | undefined): StatedRateLimit | undefined {
  const [, limit, policies = ""] = VALUE.exec(value?.trim() ?? "") ?? [];
  if (limit === undefined) return undefined;
  const perMinute = [...policies.matchAll(EACH_POLICY)].map(([policy]) => {
    const windowS = Number(WINDOW.exec(policy)?.[1] ?? MINUTE_S);
    return (Number.parseInt(policy, 10) * MINUTE_S) / (windowS || MINUTE_S);
  });
  return { limit: Number(limit), perMinute: perMinute.length === 0 ? [Number(limit)] : perMinute };
}

// Generated from src/dialects/retry-after.ts by `npm run generate`: change it there.
/** The form of a `Retry-After` value, whether or not it can be used. */
export type RetryAfterForm =
  | { readonly kind: "seconds"; readonly seconds: number }
  | { readonly kind: "date"; readonly atMs: number }
  | { readonly kind: "unusable"; readonly why: string };

const DAYS = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAYS = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = `(${MONTHS.join("|")})`;
const TIME = "(\\d{2}):(\\d{2}):(\\d{2})";

// RFC 9110, 5.6.7: the fixed form, and two obsolete ones that a recipient must still accept.
const IMF_FIXDATE = new RegExp(`^${DAYS}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} GMT$`);
const RFC850_DATE = new RegExp(`^${LONG_DAYS}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} GMT$`);
const ASCTIME_DATE = new RegExp(`^${DAYS} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`);

/**
 * Reads an HTTP date. Not `Date.parse`, which reads `-3` and `1.5` as years, and so turns a broken Retry-After into a wait of
 * decades.
 *
 * @param nowMs only decides the century of a two-digit year.
 * @returns Unix epoch milliseconds, or `undefined` if the text is not an HTTP date.
 * @see RFC 9110, 5.6.7
 */
export function httpDateMs(text: string, nowMs: number): number | undefined {
  const fixed = IMF_FIXDATE.exec(text);
  if (fixed !== null) return utc(fixed[3], fixed[2], fixed[1], fixed[4], fixed[5], fixed[6]);
  const rfc850 = RFC850_DATE.exec(text);
  if (rfc850 !== null) {
    const century = Math.floor(new Date(nowMs).getUTCFullYear() / 100) * 100;
    const near = century + Number(rfc850[3]);
    // A year that seems more than 50 years ahead is the most recent past one with these digits.
    const year = near > new Date(nowMs).getUTCFullYear() + 50 ? near - 100 : near;
    return utc(String(year), rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]);
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime !== null) return utc(asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]);
  return undefined;
}

function utc(year = "", month = "", day = "", hour = "", minute = "", second = ""): number | undefined {
  const atMs = Date.UTC(Number(year), MONTHS.indexOf(month), Number(day), Number(hour), Number(minute), Number(second));
  const read = new Date(atMs);
  // Date.UTC rolls over: 31 February would become 3 March.
  const kept = read.getUTCDate() === Number(day) && read.getUTCHours() === Number(hour) && Number(minute) < 60;
  return kept && Number(second) <= 60 ? atMs : undefined;
}

/**
 * Parses a `Retry-After` value.
 *
 * @param value raw header value; whole seconds, or an HTTP date.
 * @see RFC 9110, 10.2.3
 */
export function readRetryAfter(value: string, nowMs: number): RetryAfterForm {
  const text = value.trim();
  if (text === "") return { kind: "unusable", why: "empty" };
  if (/^\d+$/.test(text)) return { kind: "seconds", seconds: Number(text) };
  const atMs = httpDateMs(text, nowMs);
  if (atMs !== undefined) return { kind: "date", atMs };
  if (/^-\d+(\.\d+)?$/.test(text)) return { kind: "unusable", why: "a negative number" };
  if (/^\+?\d*\.\d+$/.test(text)) return { kind: "unusable", why: "a fraction" };
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return { kind: "unusable", why: "an ISO date" };
  if (/^\d+(\s*,\s*\d+)+$/.test(text)) return { kind: "unusable", why: "several values" };
  if (/^\d+\s*[a-z]+$/i.test(text)) return { kind: "unusable", why: "a number with a unit" };
  return { kind: "unusable", why: "neither whole seconds nor an HTTP date" };
}

/** Limit of whole microseconds: a number with four hundred digits cannot be used in arithmetic. */
const MAX_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1_000);

/**
 * Reads the wait that a denial requests.
 *
 * @param value raw `Retry-After`: whole seconds, or an HTTP date.
 * @param nowMs wall clock, Unix epoch milliseconds; used for dates only.
 * @returns milliseconds to wait, 0 or more (a date in the past gives 0) and 285 years at most; `undefined` if the value is
 * unusable. Never throws: an unusable value is evidence for LIMIT-RATE-4, not an error.
 * @see RFC 9110, 10.2.3
 */
export function retryAfterMs(value: string, nowMs: number): number | undefined {
  const form = readRetryAfter(value, nowMs);
  if (form.kind === "seconds") return Math.min(form.seconds * 1_000, MAX_MS);
  if (form.kind === "date") return Math.min(Math.max(0, form.atMs - nowMs), MAX_MS);
  return undefined;
}

/** What is needed to interpret the value of a wait. */
export interface WaitContext {
  /** The `Date` of the response, if it has one. */
  readonly date: string | undefined;
  /** Wall clock at its last byte, Unix epoch milliseconds. */
  readonly arrivedAtMs: number;
}

/**
 * Reads the gateway's clock from its response, Unix epoch milliseconds: its `Date`, or our own clock if it sends none.
 *
 * @see RFC 9110, 6.6.1
 */
export function gatewayTimeMs({ date, arrivedAtMs }: WaitContext): number {
  return httpDateMs(date ?? "", arrivedAtMs) ?? arrivedAtMs;
}

/**
 * Reads the wait that a denial requests, from its arrival. A date is compared with the gateway's own clock, so that a gateway
 * is not blamed for clocks that differ. `Date` has whole seconds and is at most one second in the past: the wait is never too
 * short.
 *
 * @param value raw `Retry-After`; `undefined` if absent.
 * @returns as `retryAfterMs` does.
 * @see RFC 9110, 6.6.1 and 10.2.3
 */
export function retryAfterWaitMs(value: string | undefined, context: WaitContext): number | undefined {
  return value === undefined ? undefined : retryAfterMs(value, gatewayTimeMs(context));
}

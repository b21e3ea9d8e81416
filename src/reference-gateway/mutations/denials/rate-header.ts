import { loadGrid } from "../../change.ts";
import { setHeader } from "../../edits/replies/response-edits.ts";
import { always } from "../../edits/when.ts";
import { type Apply, onDenial } from "../../edits/wrap.ts";

/** Headers of a denial, from the requests per minute that the account may send. */
const state = (headers: (rpm: number) => Readonly<Record<string, string>>): Apply =>
  onDenial("rate_limit_exceeded", always, (response, call) =>
    Object.entries(headers(call.key?.account.limits.rpm ?? 1)).reduce(
      (edited, [header, value]) => setHeader(header, value)(edited, call),
      response,
    ),
  );

/** The rate limit state in the optional headers of a denial. */
export const RATE_HEADER_MUTATIONS = loadGrid(["LIMIT-RATE-7"], state, {
  "rate-headers.remaining-negative": {
    summary: "The remaining count of a denial is negative.",
    with: () => ({
      "X-RateLimit-Remaining": "-1",
    }),
  },
  "rate-headers.remaining-fraction": {
    summary: "The remaining count of a denial is a fraction.",
    with: () => ({
      "X-RateLimit-Remaining": "0.4",
    }),
  },
  "rate-headers.remaining-while-denied": {
    summary: "The remaining count of a denial is not 0.",
    with: (rpm) => ({
      "X-RateLimit-Remaining": String(Math.ceil(rpm / 2)),
    }),
  },
  "rate-headers.remaining-word": {
    summary: "The remaining count of a denial is a word.",
    with: () => ({ "X-RateLimit-Remaining": "none" }),
  },
  "rate-headers.limit-doubled": {
    summary: "The limit in a denial is twice the real one.",
    with: (rpm) => ({
      "X-RateLimit-Limit": String(rpm * 2),
    }),
  },
  "rate-headers.limit-per-second": {
    summary: "The limit in a denial is per second.",
    with: (rpm) => ({
      "X-RateLimit-Limit": String(Math.max(1, Math.round(rpm / 60))),
    }),
  },
  "rate-headers.limit-with-unit": {
    summary: "The limit in a denial has a unit.",
    with: (rpm) => ({
      "X-RateLimit-Limit": `${rpm}/min`,
    }),
  },
  "rate-headers.limit-policy-doubled": {
    summary: "The limit in a denial has policies that allow twice the real one.",
    with: (rpm) => ({
      "X-RateLimit-Limit": `${rpm * 2}, ${rpm * 2};w=60`,
    }),
  },
  "rate-headers.limit-policy-broken": {
    summary: "The limit in a denial has truncated policies.",
    with: (rpm) => ({
      "X-RateLimit-Limit": `${rpm}, ${rpm};w=`,
    }),
  },
  "rate-headers.limit-zero": { summary: "The limit in a denial is 0.", with: () => ({ "X-RateLimit-Limit": "0" }) },
  "rate-headers.limit-empty": { summary: "The limit in a denial is empty.", with: () => ({ "X-RateLimit-Limit": "" }) },
});

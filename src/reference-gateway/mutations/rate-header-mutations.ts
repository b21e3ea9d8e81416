import { loadMutation, type Mutation } from "../change.ts";
import { setHeader } from "../edits/replies/response-edits.ts";
import { always } from "../edits/when.ts";
import { onDenial } from "../edits/wrap.ts";

const state = (name: string, summary: string, edit: (limit: number) => Readonly<Record<string, string>>): Mutation =>
  loadMutation(
    `rate-headers.${name}`,
    ["LIMIT-RATE-7"],
    summary,
    onDenial("rate_limit_exceeded", always, (response, call) =>
      Object.entries(edit(call.key?.account.limits.rpm ?? 1)).reduce(
        (edited, [header, value]) => setHeader(header, value)(edited, call),
        response,
      ),
    ),
  );

/** The rate limit state in the optional headers of a denial. */
export const RATE_HEADER_MUTATIONS: readonly Mutation[] = [
  state("remaining-negative", "The remaining count of a denial is negative.", () => ({
    "X-RateLimit-Remaining": "-1",
  })),
  state("remaining-fraction", "The remaining count of a denial is a fraction.", () => ({
    "X-RateLimit-Remaining": "0.4",
  })),
  state("remaining-while-denied", "The remaining count of a denial is not 0.", (rpm) => ({
    "X-RateLimit-Remaining": String(Math.ceil(rpm / 2)),
  })),
  state("remaining-word", "The remaining count of a denial is a word.", () => ({ "X-RateLimit-Remaining": "none" })),
  state("limit-doubled", "The limit in a denial is twice the real one.", (rpm) => ({
    "X-RateLimit-Limit": String(rpm * 2),
  })),
  state("limit-per-second", "The limit in a denial is per second.", (rpm) => ({
    "X-RateLimit-Limit": String(Math.max(1, Math.round(rpm / 60))),
  })),
  state("limit-with-unit", "The limit in a denial has a unit.", (rpm) => ({
    "X-RateLimit-Limit": `${rpm}/min`,
  })),
  state("limit-policy-doubled", "The limit in a denial has policies that allow twice the real one.", (rpm) => ({
    "X-RateLimit-Limit": `${rpm * 2}, ${rpm * 2};w=60`,
  })),
  state("limit-policy-broken", "The limit in a denial has truncated policies.", (rpm) => ({
    "X-RateLimit-Limit": `${rpm}, ${rpm};w=`,
  })),
  state("limit-zero", "The limit in a denial is 0.", () => ({ "X-RateLimit-Limit": "0" })),
  state("limit-empty", "The limit in a denial is empty.", () => ({ "X-RateLimit-Limit": "" })),
];

import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { gatewayTimeMs, readRateLimit, readRetryAfter } from "../../src/dialects/index.ts";
import { that, type Verdict } from "../../src/judging/index.ts";
import type { ShouldRequirement } from "../../src/requirements/index.ts";
import { isConcurrencyDenial, isNamedRateDenial, isRateDenial } from "../limits/denials.ts";

/** A one-minute rate needs no longer wait; half as much again for cautious gateways, seconds. */
const MAX_RATE_WAIT_S = 90;
/** A longer wait for a request in flight to end is useless to a client, seconds. */
const MAX_CONCURRENCY_WAIT_S = 600;

/** Judges the form of a Retry-After: one value, whole seconds above zero or a date in the future, plausible in length. */
function judgeRetryAfter(verdict: Verdict, denial: Response, requirement: ShouldRequirement, longestS: number): void {
  const values = [...new Set(denial.headerValues("retry-after"))];
  const seen = { in: denial, at: "Retry-After" };
  if (
    !verdict.should(
      requirement,
      values.length,
      that("one value", (count) => count === 1),
      { ...seen, because: `values: ${values.join(" and ")}` },
    )
  )
    return;
  const [value = ""] = values;
  const nowMs = gatewayTimeMs({ date: denial.header("date"), arrivedAtMs: denial.arrivedAtMs });
  const form = readRetryAfter(value, nowMs);
  const usable = that("whole seconds above zero or an HTTP date in the future", () => {
    if (form.kind === "unusable") return false;
    // Dates have whole seconds: a date in the second in which it was sent is not in the past.
    return form.kind === "seconds" ? form.seconds > 0 : form.atMs >= Math.floor(nowMs / 1_000) * 1_000;
  });
  if (
    !verdict.should(requirement, value, usable, { ...seen, ...(form.kind === "unusable" ? { because: form.why } : {}) })
  )
    return;
  const waitS =
    form.kind === "seconds" ? form.seconds : form.kind === "date" ? Math.ceil((form.atMs - nowMs) / 1_000) : 0;
  verdict.should(
    requirement,
    waitS,
    that(`a plausible wait, up to ${longestS} s`, (seconds) => (seconds as number) <= longestS),
    seen,
  );
}

/** Checks that drive an account into its limits use an account of their own. */
const NEEDS_ACCOUNT = "; the checks that reach it need an account under `limited`";

const present = defineInvariant({
  id: "retry-after.present",
  about: "limited.rate",
  title: "Every rate-limit denial has a Retry-After",
  covers: ["LIMIT-RATE-4"],
  explains:
    "Checks every rate_limit_exceeded denial of the run, whatever caused it: both dialects, streaming and non-streaming, the model list. Without the header, clients guess, and all retry at the same time.",
  judge(responses, verdict) {
    const denials = responses.filter(isNamedRateDenial);
    if (denials.length === 0) return verdict.inconclusive(`no request was denied by the rate limit${NEEDS_ACCOUNT}`);
    for (const denial of denials) {
      verdict.must("LIMIT-RATE-4", denial.header("retry-after") !== undefined, true, {
        in: denial,
        at: "Retry-After",
        because: `${denial.requested.endpoint}, ${denial.requested.mode}`,
      });
    }
  },
});

const wellFormed = defineInvariant({
  id: "retry-after.form",
  title: "A Retry-After is a number of seconds in digits, or an HTTP date",
  covers: ["HTTP-RETRY-AFTER-FORM"],
  explains:
    "Checks every response of the run that carries the header, whatever its status. The standard allows only digits or an HTTP date, once: clients cannot read a fraction, a sign, a unit, a word, an ISO date, an empty value or two different values, or each reads them differently.",
  judge(responses, verdict) {
    const withHeader = responses.filter((response) => response.header("retry-after") !== undefined);
    if (withHeader.length === 0)
      return verdict.notApplicable("no response carried the header; retry-after.present checks that");
    for (const response of withHeader) {
      const values = [...new Set(response.headerValues("retry-after"))];
      const form = readRetryAfter(values[0] ?? "", response.arrivedAtMs);
      const well = that("digits or an HTTP date, once", () => values.length === 1 && form.kind !== "unusable");
      verdict.must("HTTP-RETRY-AFTER-FORM", values.join(" and "), well, {
        in: response,
        at: "Retry-After",
        because: form.kind === "unusable" ? form.why : undefined,
      });
    }
  },
});

const usable = defineInvariant({
  id: "retry-after.usable",
  about: "limited.rate",
  title: "The Retry-After of a rate-limit denial is usable",
  covers: ["LIMIT-RATE-5"],
  explains:
    "Expects one value: whole seconds above zero, or a future HTTP date, no longer than a one-minute rate can require. Milliseconds, fractions, negative numbers, words, ISO dates and two values at once make clients wait for hours or not at all.",
  judge(responses, verdict) {
    const denials = responses.filter(
      (response) =>
        isRateDenial(response) &&
        response.reason === "rate_limit_exceeded" &&
        response.header("retry-after") !== undefined,
    );
    if (denials.length === 0) return verdict.inconclusive(`no rate-limit denial with Retry-After${NEEDS_ACCOUNT}`);
    for (const denial of denials) judgeRetryAfter(verdict, denial, "LIMIT-RATE-5", MAX_RATE_WAIT_S);
  },
});

const onConcurrencyDenial = defineInvariant({
  id: "retry-after.concurrency",
  about: "limited.concurrency",
  title: "Concurrency denials carry a usable Retry-After",
  covers: ["LIMIT-CONC-6"],
  explains:
    'Clients must respect Retry-After on a concurrency denial. A missing header is a warning, because the retry rule says "when present"; so is an unusable value.',
  judge(responses, verdict) {
    const denials = responses.filter(isConcurrencyDenial);
    if (denials.length === 0)
      return verdict.inconclusive(`no request was denied by the concurrency limit${NEEDS_ACCOUNT}`);
    const without = denials.filter((denial) => denial.header("retry-after") === undefined);
    verdict.should("LIMIT-CONC-6", without.length, 0, {
      in: without[0],
      at: "Retry-After",
      because: `denials (of ${denials.length}) without Retry-After`,
    });
    for (const denial of denials.filter((candidate) => !without.includes(candidate)))
      judgeRetryAfter(verdict, denial, "LIMIT-CONC-6", MAX_CONCURRENCY_WAIT_S);
  },
});

const notOnSuccess = defineInvariant({
  id: "retry-after.not-on-success",
  title: "A success has no Retry-After",
  covers: ["HTTP-RETRY-AFTER"],
  explains: "Retry-After belongs to rejections. On a success it makes compliant clients wait for no reason.",
  judge(responses, verdict) {
    const served = responses.filter(({ status = 0 }) => status >= 200 && status < 300);
    if (served.length === 0) return verdict.inconclusive("nothing was served");
    const withHeader = served.filter((response) => response.header("retry-after") !== undefined);
    verdict.should("HTTP-RETRY-AFTER", withHeader.length, 0, {
      in: withHeader[0],
      at: "Retry-After",
      because: `successful responses (of ${served.length}) with Retry-After`,
    });
  },
});

const counters = defineInvariant({
  id: "retry-after.rate-headers",
  title: "X-RateLimit-Limit and X-RateLimit-Remaining are plausible where they are sent",
  covers: ["LIMIT-RATE-7"],
  explains:
    "Both are optional. If sent on a rate denial, they must be non-negative integers, nothing may remain, and the limit must be the account's. The limit may be followed by its policies, as Envoy sends it (`20, 20;w=60`). On other responses they must also be non-negative integers; a concurrency denial may count requests in flight. Counters that appear only on replies and that no request changes are a provider's, and are only observed.",
  judge(responses, verdict) {
    const counted = responses.filter(
      (response) =>
        response.header("x-ratelimit-limit") !== undefined || response.header("x-ratelimit-remaining") !== undefined,
    );
    const others = new Set(
      responses.flatMap(({ headers }) => headers.map(([name]) => name.toLowerCase()).filter(isOther)),
    );
    if (others.size > 0) verdict.observe("LIMIT-RATE-7", `counters by other names: ${[...others].sort().join(", ")}`);
    if (counted.length === 0 && others.size > 0) return;
    if (counted.length === 0) return verdict.notApplicable("no response carried these headers, which are optional");
    if (areRelayed(counted))
      return verdict.observe("LIMIT-RATE-7", "counters of a provider: on replies only, and unchanged by requests", {
        in: counted[0],
      });
    for (const response of counted) judgeCounters(response, verdict);
  },
});

/** Minimum number of replies with counters needed to see whether requests change them. */
const MIN_COUNTED = 5;

/** Whether the counters are a provider's, relayed with its replies: never on the gateway's own responses, and always the same. */
function areRelayed(counted: readonly Response[]): boolean {
  if (
    counted.length < MIN_COUNTED ||
    !counted.every(({ admitted, requested }) => admitted && requested.endpoint !== "models")
  )
    return false;
  const values = counted.map(
    (response) => `${response.header("x-ratelimit-limit")} ${response.header("x-ratelimit-remaining")}`,
  );
  return (
    counted.every((response) => response.header("x-ratelimit-remaining") !== undefined) && new Set(values).size === 1
  );
}

/** Counters that the interface does not define, including a provider's own. */
function isOther(name: string): boolean {
  return name.startsWith("x-ratelimit-") && name !== "x-ratelimit-limit" && name !== "x-ratelimit-remaining";
}

const wholeNumber = that("a whole number of zero or more", (value) => /^\d+$/.test(String(value)));
const aRateLimit = that(
  "a whole number of zero or more, with or without policies such as 20;w=60",
  (value) => readRateLimit(String(value)) !== undefined,
);

function judgeCounters(response: Response, verdict: Verdict): void {
  const limit = response.header("x-ratelimit-limit")?.trim();
  const remaining = response.header("x-ratelimit-remaining")?.trim();
  // A concurrency denial may use the same names to count requests in flight.
  const configured = isConcurrencyDenial(response) ? undefined : response.requested.rpm;
  const seen = { in: response };
  const stated = readRateLimit(limit);
  if (
    limit !== undefined &&
    verdict.should("LIMIT-RATE-7", limit, aRateLimit, { ...seen, at: "X-RateLimit-Limit" }) &&
    configured !== undefined
  ) {
    const isConfigured = that(`${configured} per minute`, () => stated?.perMinute.includes(configured) ?? false);
    verdict.should("LIMIT-RATE-7", limit, isConfigured, {
      ...seen,
      at: "X-RateLimit-Limit",
      because: "the account's configured rate",
    });
  }
  if (
    remaining === undefined ||
    !verdict.should("LIMIT-RATE-7", remaining, wholeNumber, { ...seen, at: "X-RateLimit-Remaining" })
  )
    return;
  if (response.reason === "rate_limit_exceeded")
    verdict.should("LIMIT-RATE-7", Number(remaining), 0, {
      ...seen,
      at: "X-RateLimit-Remaining",
      because: "nothing remains when the rate is denied",
    });
  if (stated !== undefined)
    verdict.should("LIMIT-RATE-7", Number(remaining) <= stated.limit, true, {
      ...seen,
      at: "X-RateLimit-Remaining",
      because: `remaining ${remaining} of ${stated.limit}`,
    });
}

export const RETRY_AFTER_HEADER: readonly Check[] = [
  present,
  wellFormed,
  usable,
  onConcurrencyDenial,
  notOnSuccess,
  counters,
];

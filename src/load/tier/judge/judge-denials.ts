import { isLimitReason } from "../../../dialects/index.ts";
import { finding, type Observation } from "../../../judging/index.ts";
import { isConcurrencyDenial, isRateDenial } from "../../../limits/index.ts";
import type { Finding } from "../../../record/index.ts";
import type { Target } from "../../../target/index.ts";
import { ratioOf } from "../../measure/phase-record.ts";
import { isStatusOf } from "../../send/read-reason.ts";
import { exchangesOf, kindsText } from "../observations.ts";

/** Maximum valid wait for a one-minute rate limit, with tolerance for clock differences, and for a concurrency denial, ms. */
const MAX_MS = { rate: 90_000, concurrency: 600_000 };

/** Judges every denial of a phase: correct status and reason, and a usable Retry-After where one is required. */
export function judgeDenials(observations: readonly Observation[], target: Target): Finding[] {
  const denied = observations.filter(({ outcome }) => outcome === "denied");
  if (denied.length === 0) return [];
  const known = denied.filter((one) => isRateDenial(one) || isConcurrencyDenial(one));
  const wrong = [
    ...denied.filter((one) => !known.includes(one)),
    ...known.filter(({ what, status }) => !isLimitReason(what) || !isStatusOf(target, what, status)),
  ];
  return [
    finding({
      name: "denials.wrong",
      title: "Denials under load have the status and reason of their limit",
      requirements: ["ERR-429-RATE", "ERR-429-CONC"],
      met: wrong.length === 0,
      expected: "429 rate_limit_exceeded or concurrency_limit_exceeded",
      observed:
        wrong.length === 0 ? `${denied.length} judged` : `${wrong.length} of ${denied.length}: ${kindsText(wrong)}`,
      basis: "content",
      exchanges: exchangesOf(wrong),
      magnitude: ratioOf(wrong.length, denied.length),
    }),
    ...judgeRateWaits(known.filter(isRateDenial)),
    ...judgeConcurrencyWaits(known.filter(isConcurrencyDenial)),
  ];
}

function judgeRateWaits(denied: readonly Observation[]): Finding[] {
  if (denied.length === 0) return [];
  const missing = denied.filter(({ retryAfter }) => retryAfter === undefined);
  const bad = unusable(denied, MAX_MS.rate);
  return [
    finding({
      name: "retry-after.missing",
      title: "Every rate limit denial has a Retry-After",
      requirements: ["LIMIT-RATE-4"],
      met: missing.length === 0,
      expected: "0 without",
      observed: `${missing.length} of ${denied.length} without`,
      basis: "content",
      exchanges: exchangesOf(missing),
      magnitude: ratioOf(missing.length, denied.length),
    }),
    finding({
      name: "retry-after.unusable",
      title: "Rate denials carry a usable Retry-After",
      requirements: ["LIMIT-RATE-5"],
      met: bad.length === 0,
      expected: "whole seconds or a date, at most a minute",
      observed: `${bad.length} of ${denied.length}${bad[0] === undefined ? "" : `, e.g. "${bad[0].retryAfter}"`}`,
      weight: "warn",
      basis: "content",
      exchanges: exchangesOf(bad),
    }),
  ];
}

function judgeConcurrencyWaits(denied: readonly Observation[]): Finding[] {
  if (denied.length === 0) return [];
  const missing = denied.filter(({ retryAfter }) => retryAfter === undefined);
  const bad = unusable(denied, MAX_MS.concurrency);
  return [
    finding({
      name: "retry-after.concurrency",
      title: "Concurrency denials carry a usable Retry-After",
      requirements: ["LIMIT-CONC-6"],
      met: missing.length + bad.length === 0,
      expected: "0 without a usable one",
      observed: `${missing.length} without, ${bad.length} unusable of ${denied.length}`,
      weight: "warn",
      basis: "content",
      exchanges: exchangesOf([...missing, ...bad]),
    }),
  ];
}

/** Denials whose Retry-After is unusable or longer than the limit can require. */
function unusable(all: readonly Observation[], longestMs: number): Observation[] {
  return all.filter(
    ({ retryAfter, retryAfterWaitMs }) =>
      retryAfter !== undefined &&
      (retryAfterWaitMs === undefined || retryAfterWaitMs > longestMs || retryAfter.trim() === "0"),
  );
}

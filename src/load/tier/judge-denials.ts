import type { Observation } from "../../judging/index.ts";
import { isConcurrencyDenial, isLimitReason, isRateDenial } from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import { compared } from "../phase-record.ts";
import { isStatusOf } from "../read-reason.ts";
import { exchangesOf, tellWhats } from "./observations.ts";

/** Longest wait that a one-minute rate can ask for, and that a concurrency denial may, ms. */
const LONGEST_MS = { rate: 61_000, concurrency: 600_000 };

/** Judges every denial of a phase: the right status and reason, Retry-After where it must be, and usable. */
export function judgeDenials(observations: readonly Observation[], target: Target): Finding[] {
  const denied = observations.filter(({ outcome }) => outcome === "denied");
  if (denied.length === 0) return [];
  const known = denied.filter((one) => isRateDenial(one) || isConcurrencyDenial(one));
  const wrong = [
    ...denied.filter((one) => !known.includes(one)),
    ...known.filter(({ what, status }) => !isLimitReason(what) || !isStatusOf(target, what, status)),
  ];
  const rate = known.filter(isRateDenial);
  const concurrency = known.filter(isConcurrencyDenial);
  const without = rate.filter(({ retryAfter }) => retryAfter === undefined);
  const badRate = unusable(rate, LONGEST_MS.rate);
  const unusableConcurrency = unusable(concurrency, LONGEST_MS.concurrency);
  const concurrencyWithout = concurrency.filter(({ retryAfter }) => retryAfter === undefined);
  return [
    compared(
      "denials.wrong",
      "Denials under load have the status and reason of their limit",
      ["ERR-429-RATE", "ERR-429-CONC"],
      wrong.length === 0,
      "429 rate_limit_exceeded or concurrency_limit_exceeded",
      wrong.length === 0 ? `${denied.length} judged` : `${wrong.length} of ${denied.length}: ${tellWhats(wrong)}`,
      { basis: "content", exchanges: exchangesOf(wrong) },
    ),
    ...(rate.length === 0
      ? []
      : [
          compared(
            "retry-after.missing",
            "Every denial for the rate has a Retry-After",
            ["LIMIT-RATE-4"],
            without.length === 0,
            "0 without",
            `${without.length} of ${rate.length} without`,
            { basis: "content", exchanges: exchangesOf(without) },
          ),
          compared(
            "retry-after.unusable",
            "Rate denials carry a usable Retry-After",
            ["LIMIT-RATE-5"],
            badRate.length === 0,
            "whole seconds or a date, at most a minute",
            `${badRate.length} of ${rate.length}${badRate[0] === undefined ? "" : `, e.g. "${badRate[0].retryAfter}"`}`,
            { weight: "warn", basis: "content", exchanges: exchangesOf(badRate) },
          ),
        ]),
    ...(concurrency.length === 0
      ? []
      : [
          compared(
            "retry-after.concurrency",
            "Concurrency denials carry a usable Retry-After",
            ["LIMIT-CONC-6"],
            concurrencyWithout.length + unusableConcurrency.length === 0,
            "0 without a usable one",
            `${concurrencyWithout.length} without, ${unusableConcurrency.length} unusable of ${concurrency.length}`,
            {
              weight: "warn",
              basis: "content",
              exchanges: exchangesOf([...concurrencyWithout, ...unusableConcurrency]),
            },
          ),
        ]),
  ];
}

/** Denials whose Retry-After cannot be used, or asks for longer than the limit can. */
function unusable(all: readonly Observation[], longestMs: number): Observation[] {
  return all.filter(
    ({ retryAfter, retryAfterWaitMs }) =>
      retryAfter !== undefined &&
      (retryAfterWaitMs === undefined || retryAfterWaitMs > longestMs || retryAfter.trim() === "0"),
  );
}

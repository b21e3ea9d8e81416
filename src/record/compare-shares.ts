import {
  countUntil,
  differenceOfShares,
  formatNumber,
  formatRounded,
  type MeasuredShare,
  wilson,
} from "../core/index.ts";
import type { ComparedMetric } from "./sections/comparison-section.ts";

/** A share of requests in two separate runs, with 95 % intervals. */
export interface SharePair {
  readonly a: MeasuredShare;
  readonly b: MeasuredShare;
  readonly worse: ComparedMetric["worse"];
  /** Requests of each run; the smaller number if they differ. */
  readonly requests: number;
}

const CONFIDENCE = 0.95;
/** A share is not worse if the difference is certain to be at most this: an interleaved session has the same margin. */
const MARGIN = 0.01;

/** A share of `of` independent requests. */
export function measuredShare(share: number, of: number): MeasuredShare {
  return { share, ...wilson({ count: share * of, of }, CONFIDENCE) };
}

/**
 * Regressed if the second share is worse and the intervals do not overlap; not worse if the second share is at most
 * as bad as the first, or if the interval of the difference ends within one percentage point. Anything between is undecided: a tolerance without an interval would accept a build
 * that fails one request in a hundred.
 */
export function judgeShares({ a, b, worse, requests }: SharePair): Pick<ComparedMetric, "verdict" | "why"> {
  const [from, to] = worse === "higher" ? [a, b] : [complement(a), complement(b)];
  const verdict = verdictOf(from, to);
  const intervals = `95 % intervals ${intervalText(a)} and ${intervalText(b)}`;
  if (verdict === "regressed" || verdict === "improved") return { verdict, why: `${intervals}, without overlap` };
  if (verdict === "not worse") return { verdict, why: `${intervals}` };
  const again = (of: number) => verdictOf(measuredShare(from.share, of), measuredShare(to.share, of));
  const needed = countUntil(requests, (of) => again(of) !== "inconclusive");
  // If requests depend on each other, the intervals are wider than their number suggests, so the number needed is unknown.
  const isKnown = Number.isFinite(needed) && again(requests) === "inconclusive";
  const howMany = isKnown
    ? `; about ${formatNumber(needed)} requests in each run would decide it, these had ${formatNumber(requests)}`
    : "";
  return { verdict, why: `the ${intervals} overlap${howMany}` };
}

/** From this share of denials on, a load is taken to exceed a limit. */
const OVER_LIMIT = 0.05;
/** Over a limit, the share of denials depends on how fast requests were sent: a smaller difference is not evidence. */
const DENIED_NOISE = 0.05;

/** The shares of denied requests. Beyond a limit, a rise must exceed what the pace of two runs explains. */
export function judgeDenials(pair: SharePair): Pick<ComparedMetric, "verdict" | "why"> {
  const rise = pair.b.share - pair.a.share;
  if (pair.a.share < OVER_LIMIT || Math.abs(rise) > DENIED_NOISE) return judgeShares(pair);
  return rise <= MARGIN
    ? { verdict: "not worse", why: "over the limit in both runs, and the share of denials rose by at most 1 point" }
    : {
        verdict: "inconclusive",
        why: "beyond a limit, the share of denials also depends on how fast requests were sent",
      };
}

function verdictOf(from: MeasuredShare, to: MeasuredShare): ComparedMetric["verdict"] {
  if (to.low > from.high) return "regressed";
  if (to.high < from.low) return "improved";
  return to.share <= from.share || differenceOfShares(from, to).high <= MARGIN ? "not worse" : "inconclusive";
}

function complement({ share, low, high }: MeasuredShare): MeasuredShare {
  return { share: 1 - share, low: 1 - high, high: 1 - low };
}

/** `0.22–3.08 %`. */
function intervalText({ low, high }: MeasuredShare): string {
  return `${formatRounded(low * 100, 2)}–${formatRounded(high * 100, 2)} %`;
}

import { finding, type Observation } from "../../judging/index.ts";
import { type RetryAfterWait, shareText, tallyWaits } from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import { ratioOf } from "../measure/phase-record.ts";
import { exchangesOf } from "../tier/observations.ts";

/** Minimum share of the tested waits that must be sufficient. */
const MIN_SUFFICIENT_SHARE = 0.99;

/** What a finding about waits decides. */
interface WaitsQuestion {
  readonly name: string;
  readonly title: string;
  readonly requirement: string;
}

/** For rate denials. */
export const RATE_WAITS: WaitsQuestion = {
  name: "retry-after.sufficient",
  title: "A request after the Retry-After wait of a rate denial is admitted",
  requirement: "LIMIT-RATE-6",
};

export interface WaitsJudged extends WaitsQuestion {
  /** Denials of this kind. */
  readonly denials: readonly Observation[];
}

/**
 * Judges whether Retry-After waits were sufficient. If no denial has a usable header, nothing is undecided, because another finding covers
 * it.
 */
export function judgeWaits(
  waits: readonly RetryAfterWait[],
  { name, title, requirement, denials }: WaitsJudged,
): Finding[] {
  const broken = waits.filter(({ outcome }) => outcome === "insufficient");
  const { tested, sufficient } = tallyWaits(waits);
  if (tested === 0) {
    const observed = denials.filter(({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined);
    if (denials.length === 0)
      return [finding({ name, title, requirements: [requirement], observed: "nothing was denied", basis: "timing" })];
    if (observed.length === 0)
      return [
        finding({
          name,
          title,
          requirements: [requirement],
          observed: `none of ${denials.length} denials had a usable Retry-After`,
          basis: "timing",
        }),
      ];
    const why = `none of ${observed.length} waits could be tested, e.g. Retry-After: ${observed[0]?.retryAfter ?? ""}`;
    return [finding({ name, title, requirements: [requirement], undecided: why, basis: "timing" })];
  }
  const again = broken.slice(0, 3).map(({ denial }) => denial.retryAfter ?? "");
  const ids = exchangesOf(broken.map(({ denial }) => denial));
  const more = `(${denials.length} denials)${again.length === 0 ? "" : `; denied again after Retry-After: ${again.join(", ")}`}`;
  return [comparedWaits({ name, title, requirement }, { tested, sufficient }, more, ids)];
}

/** Compares the share of sufficient waits with a recommendation of the specification. */
function comparedWaits(
  { name, title, requirement }: WaitsQuestion,
  { tested, sufficient }: { readonly tested: number; readonly sufficient: number },
  more: string,
  exchanges: readonly string[],
): Finding {
  const met = sufficient >= tested * MIN_SUFFICIENT_SHARE;
  const observed = `${shareText(sufficient, tested)} were sufficient ${more}`;
  return finding({
    name,
    title,
    requirements: [requirement],
    met,
    expected: `at least ${MIN_SUFFICIENT_SHARE * 100} % of them`,
    observed,
    basis: "timing",
    weight: "warn",
    exchanges,
    magnitude: ratioOf(tested - sufficient, tested),
  });
}

/** Judges the waits during which the clients of a workload sent nothing else. No finding if there are none. */
export function judgeLoneWaits(waits: { readonly tested: number; readonly sufficient: number }): Finding[] {
  return waits.tested === 0
    ? []
    : [comparedWaits(RATE_WAITS, waits, "(with no other request between the denial and the retry)", [])];
}

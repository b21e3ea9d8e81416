import type { Observation } from "../judging/index.ts";
import { type RetryAfterWait, shareText, tallyWaits } from "../limits/index.ts";
import type { Finding } from "../record/index.ts";
import { compared, noted, shareOf, undecided } from "./phase-record.ts";
import { exchangesOf } from "./tier/observations.ts";

/** Share of the tested waits that must be sufficient. */
const SUFFICIENT_SHARE = 0.99;

/** A question about waits, as its finding has it. */
interface WaitsQuestion {
  readonly name: string;
  readonly title: string;
  readonly requirement: string;
}

/** The question that every run with denials for the rate answers. */
export const RATE_WAITS: WaitsQuestion = {
  name: "retry-after.sufficient",
  title: "A request after the Retry-After wait of a rate denial is admitted",
  requirement: "LIMIT-RATE-6",
};

export interface WaitsJudged extends WaitsQuestion {
  /** Denials of the kind that is asked about. */
  readonly denials: readonly Observation[];
}

/** Whether the Retry-After wait was sufficient. Nothing is undecided where no denial had a usable header: that is another finding. */
export function judgeWaits(
  waits: readonly RetryAfterWait[],
  { name, title, requirement, denials }: WaitsJudged,
): Finding[] {
  const broken = waits.filter(({ outcome }) => outcome === "insufficient");
  const { tested, sufficient } = tallyWaits(waits);
  if (tested === 0) {
    const observed = denials.filter(({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined);
    if (denials.length === 0) return [noted(name, title, [requirement], "nothing was denied")];
    if (observed.length === 0)
      return [noted(name, title, [requirement], `none of ${denials.length} denials had a usable Retry-After`)];
    const why = `none of ${observed.length} waits could be tested, e.g. Retry-After: ${observed[0]?.retryAfter ?? ""}`;
    return [undecided(name, title, [requirement], why)];
  }
  const again = broken.slice(0, 3).map(({ denial }) => denial.retryAfter ?? "");
  const ids = exchangesOf(broken.map(({ denial }) => denial));
  const more = `(${denials.length} denials)${again.length === 0 ? "" : `; denied again after waiting ${again.join(", ")} as observed`}`;
  return [comparedWaits({ name, title, requirement }, { tested, sufficient }, more, ids)];
}

/** That enough of the tested waits were sufficient: a recommendation of the specification. */
function comparedWaits(
  { name, title, requirement }: WaitsQuestion,
  { tested, sufficient }: { readonly tested: number; readonly sufficient: number },
  more: string,
  exchanges: readonly string[],
): Finding {
  const met = sufficient >= tested * SUFFICIENT_SHARE;
  const observed = `${shareText(sufficient, tested)} were sufficient ${more}`;
  return compared(name, title, [requirement], met, `at least ${SUFFICIENT_SHARE * 100} % of them`, observed, {
    weight: "warn",
    exchanges,
    magnitude: shareOf(tested - sufficient, tested),
  });
}

/** The waits of a workload's clients during which they sent nothing else. Without any, nothing is said. */
export function judgeLoneWaits(waits: { readonly tested: number; readonly sufficient: number }): Finding[] {
  return waits.tested === 0
    ? []
    : [comparedWaits(RATE_WAITS, waits, "(with no other request between the denial and the retry)", [])];
}

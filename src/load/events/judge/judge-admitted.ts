import { formatCount, formatNumber } from "../../../core/index.ts";
import { finding } from "../../../judging/index.ts";
import type { EventFigures, Finding } from "../../../record/index.ts";
import { isWithin, type RatioBound } from "../event-bound.ts";
import { MINUTE_S, rateRatio } from "../limit-figures.ts";

/** A load that would have to be longer than this is not suggested. */
const MAX_SUGGESTED_FACTOR = 100;

/** Judges how many requests were admitted from an event on by what was admitted before it. */
export function judgeAdmitted(
  named: Pick<Finding, "name"> & { readonly title: string },
  limit: EventFigures["limit"],
  bound: RatioBound,
): Finding {
  const facts = {
    ...named,
    requirements: [],
    expected: `${bound.text} of the number before`,
    basis: "timing" as const,
  };
  const undecided = (why: string) => finding({ ...facts, undecided: why });
  const why = notComparable(limit);
  if (limit === undefined || why !== undefined) return undecided(why ?? "nothing was counted");
  const { admittedBefore, beforeS, windowS, sent, admitted, unclear } = limit;
  const offered = rateRatio(limit, sent);
  if (isWithin(offered, bound) !== false) {
    const perS = Math.ceil(((bound.value + 1) * admittedBefore) / beforeS);
    return undecided(
      `too few requests: ${formatNumber(sent)} were sent in ${windowS} s, and ${formatNumber(admittedBefore)} admitted in ${beforeS} s before the event. Even if all of them had been admitted, that would not prove a violation of ${bound.text}. Send at least ${formatNumber(perS)} requests/s.`,
    );
  }
  const ratio = rateRatio(limit, admitted);
  const observed = `${formatNumber(admitted)} of ${formatCount(sent, "request")} admitted in ${windowS} s, ${percent(ratio.value)} of the number before (95 % interval ${percent(ratio.low)} to ${percent(ratio.high)}; ${formatNumber(admittedBefore)} in ${beforeS} s)`;
  const isMet = isWithin(ratio, bound);
  if (isMet === false) return finding({ ...facts, met: false, observed, magnitude: ratio.value / bound.value });
  if (admitted === 0)
    return undecided(`${observed}: a gateway that admits nothing does not show that it applies its limits`);
  if (isMet === true && isWithin(rateRatio(limit, admitted + unclear), bound) === true)
    return finding({ ...facts, met: true, observed, magnitude: ratio.value / bound.value });
  if (isMet === true)
    return undecided(
      `${observed}: ${formatCount(unclear, "request")} got an unusable or incomplete response, or none; the gateway may have admitted them, too`,
    );
  const times = timesToDecide(limit, bound);
  return undecided(
    `${observed}: too few requests to decide ${bound.text}${times === undefined ? "" : `; about ${times} times as many are needed`}`,
  );
}

/** Why nothing can be said; `undefined` if the numbers can be compared. */
function notComparable(limit: EventFigures["limit"]): string | undefined {
  if (limit === undefined) return "nothing was counted";
  const { deniedBefore, limitedS, beforeS, admittedBefore, windowS } = limit;
  if (deniedBefore === 0)
    return "no request was denied by a limit before the first event: the limit was not reached. Send more than the account's limit allows.";
  if (beforeS === 0)
    return `only ${formatNumber(limitedS)} s passed between the first denial and the first event, and limits may be counted in whole minutes. Schedule the event at least ${MINUTE_S - limitedS} s later.`;
  if (admittedBefore === 0) return "nothing was admitted before the first event";
  if (windowS === 0)
    return `less than ${MINUTE_S} s passed between the event and the next one, or the end of the load; limits may be counted in whole minutes`;
  return undefined;
}

/** How many times as many requests would decide a bound if the ratio stays the same. */
function timesToDecide(limit: NonNullable<EventFigures["limit"]>, bound: RatioBound): number | undefined {
  for (let times = 2; times <= MAX_SUGGESTED_FACTOR; times++) {
    const more = { ...limit, admittedBefore: limit.admittedBefore * times };
    if (isWithin(rateRatio(more, limit.admitted * times), bound) !== undefined) return times;
  }
  return undefined;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

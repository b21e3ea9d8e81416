import { formatCount } from "../../../core/index.ts";
import { finding } from "../../../judging/index.ts";
import type { Finding, JudgedRun } from "../../../record/index.ts";

/** Judges whether ended requests still count towards the account's concurrency limit after the load. */
export function judgeLeakedCapacity(
  named: Pick<Finding, "name"> & { readonly title: string },
  afterLoad: JudgedRun["afterLoad"],
): Finding {
  const facts = {
    ...named,
    requirements: ["LIMIT-CONC-4"],
    expected: "every stream up to the limit is admitted",
    // What is decided does not depend on when requests were sent.
    basis: "content" as const,
  };
  if (afterLoad === undefined)
    return finding({
      ...facts,
      undecided: "not measured: the load was interrupted",
    });
  const { limit, sent, admitted, denied, atOnce, others } = afterLoad;
  const rest = others.length === 0 ? "" : `; ${others.map(({ what, count }) => `${count} ${what}`).join(", ")}`;
  const observed = `${admitted} of ${formatCount(sent, "concurrent stream")} admitted after the load, ${denied} denied by the concurrency limit of ${limit}${rest}`;
  // No more streams than the limit were sent, so a denial means that an ended request still counts.
  if (denied > 0) return finding({ ...facts, met: false, observed, magnitude: denied / limit });
  if (admitted < limit) return finding({ ...facts, undecided: observed });
  if (atOnce < limit)
    return finding({
      ...facts,
      undecided: `${observed}, but only ${atOnce} of them are known to have run concurrently. Set models.stream to a model with longer streams`,
    });
  return finding({ ...facts, met: true, observed });
}

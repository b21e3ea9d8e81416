import { formatCount } from "../../../core/index.ts";
import { finding } from "../../../judging/index.ts";
import type { Finding, JudgedRun } from "../../../record/index.ts";

/** Judges whether every slot of the account is free after the load. */
export function judgeSlots(
  named: Pick<Finding, "name"> & { readonly title: string },
  slots: JudgedRun["slots"],
): Finding {
  const facts = {
    ...named,
    requirements: ["LIMIT-CONC-4"],
    expected: "every stream up to the limit is admitted",
    // What is decided does not depend on when requests were sent.
    basis: "content" as const,
  };
  if (slots === undefined)
    return finding({
      ...facts,
      undecided: "not measured: the load was interrupted",
    });
  const { limit, sent, admitted, denied, atOnce, others } = slots;
  const rest = others.length === 0 ? "" : `; ${others.map(({ what, count }) => `${count} ${what}`).join(", ")}`;
  const observed = `${admitted} of ${formatCount(sent, "stream")} at once admitted after the load, ${denied} denied by the concurrency limit of ${limit}${rest}`;
  // No more than the limit were sent: only what had ended before can have taken their slots.
  if (denied > 0) return finding({ ...facts, met: false, observed, magnitude: denied / limit });
  if (admitted < limit) return finding({ ...facts, undecided: observed });
  if (atOnce < limit)
    return finding({
      ...facts,
      undecided: `${observed}, but at most ${atOnce} of them certainly ran at the same time: name a model with longer streams as models.stream`,
    });
  return finding({ ...facts, met: true, observed });
}

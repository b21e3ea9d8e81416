import { formatCount } from "../../src/core/index.ts";
import { countMet, type Finding } from "../../src/record/index.ts";
import { describeFinding, describeObserved } from "./finding.ts";

const others = (count: number): string => (count === 0 ? "" : ` (and ${formatCount(count, "more finding")})`);

/** A failed check, or one with a warning: its worst finding, and the number of the others. */
export function describeBroken(worst: Finding, broken: readonly Finding[]): string {
  return describeFinding(worst) + others(broken.length - 1);
}

/** A check with findings that had to be decided and could not. */
export function describeOpen(undecided: readonly [Finding, ...Finding[]]): string {
  const [first] = undecided;
  // The sentence of a finding that is named after a requirement does not name it.
  const about = first.requirements.includes(first.name) ? `${first.name}: ` : "";
  return `not decided: ${about}${describeFinding(first)}${others(undecided.length - 1)}`;
}

/** A check that found nothing wrong. */
export function describePass(findings: readonly Finding[]): string {
  const met = countMet(findings);
  return met === 1 ? "1 expectation met" : `${met} expectations met`;
}

/** A check whose requirement the specification leaves open. */
export function describeSilence(findings: readonly Finding[]): string {
  const [first] = findings;
  return `the specification leaves this open; observed: ${first === undefined ? "nothing" : describeObserved(first.observed)}`;
}

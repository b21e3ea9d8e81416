import type { CheckResult, Finding } from "../../record/index.ts";

/** How large a failure is, by the names of its broken findings. */
export type Magnitudes = Readonly<Record<string, number>>;

/** A failure that is larger than waived by more than this factor is not covered. */
export const MAX_GROWTH = 2;

/** Significant digits. Magnitudes are rounded up, so that a failure never exceeds its own recorded magnitude. */
const DIGITS = 4;

/**
 * The size of a failure for each broken finding: the measure that the finding states (a share of requests, a multiple of a
 * bound) or, if it states none, the share of its comparisons that were not met.
 */
export function magnitudesOf({ findings }: Pick<CheckResult, "findings">): Magnitudes {
  const broken = findings.filter(({ outcome, weight }) => outcome === "broken" && weight === "fail");
  const names = [...new Set(broken.map(({ name }) => name))].sort();
  return Object.fromEntries(
    names.map((name) => [name, rounded(magnitudeOf(findings.filter((one) => one.name === name)))]),
  );
}

function magnitudeOf(findings: readonly Finding[]): number {
  const stated = findings.flatMap(({ outcome, magnitude }) =>
    outcome === "broken" && magnitude !== undefined ? [magnitude] : [],
  );
  if (stated.length > 0) return Math.max(...stated);
  const counted = (outcome: Finding["outcome"]) =>
    findings.reduce((sum, one) => (one.outcome === outcome ? sum + (one.count ?? 1) : sum), 0);
  return counted("broken") / (counted("broken") + counted("met"));
}

function rounded(value: number): number {
  if (value === 0) return 0;
  const step = 10 ** (Math.floor(Math.log10(value)) + 1 - DIGITS);
  // toPrecision removes the digits that the multiplication adds.
  return Number((Math.ceil(value / step - 1e-9) * step).toPrecision(DIGITS));
}

/** The largest magnitude of each finding, over several failures of one kind. */
export function largestOf(some: readonly Magnitudes[]): Magnitudes {
  const largest: Record<string, number> = {};
  for (const [name, value] of some.flatMap((one) => Object.entries(one)))
    largest[name] = Math.max(largest[name] ?? 0, value);
  return largest;
}

/** Describes what exceeds a waiver; `undefined` if nothing does. */
export function growthOf(now: Magnitudes, waived: Magnitudes): string | undefined {
  const grown = Object.entries(now).filter(([name, value]) => value > (waived[name] ?? 0) * MAX_GROWTH);
  if (grown.length === 0) return undefined;
  return grown
    .map(([name, value]) => {
      const before = waived[name];
      return before === undefined
        ? `${name} has magnitude ${value}; the waiver does not list it`
        : `${name} has magnitude ${value}; the waiver covers up to ${MAX_GROWTH} × ${before}`;
    })
    .join("; ");
}

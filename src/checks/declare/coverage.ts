import type { CustomRequirement } from "../../requirements/index.ts";
import { type Check, type DialectOfCheck, dialectOfCheck, instancesOf, suiteOf } from "./check.ts";

/** What a check instance can say something about. */
export interface CoveringInstance {
  readonly id: string;
  readonly check: string;
  readonly suite: string;
  readonly dialect: DialectOfCheck;
  readonly requirements: readonly string[];
}

/** All instances of the built-in checks; custom suites say nothing about profiles. */
export function coverageOf(checks: readonly Check[]): CoveringInstance[] {
  return checks
    .filter(({ customSuite }) => customSuite === undefined)
    .flatMap(instancesOf)
    .map((instance) => ({
      id: instance.id,
      check: instance.check.id,
      suite: suiteOf(instance.check.id),
      dialect: dialectOfCheck(instance),
      requirements: instance.check.covers,
    }));
}

/** The requirements that custom suites declare and their checks cover, each once. */
export function customRequirementsOf(checks: readonly Pick<Check, "requirements">[]): CustomRequirement[] {
  const all = checks.flatMap(({ requirements }) => requirements);
  return [...new Map(all.flatMap((one) => (one.layer === "custom" ? [[one.id, one] as const] : []))).values()];
}

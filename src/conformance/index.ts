export { Answer, type Asked, atPointer, type ReadingRules } from "./answer.ts";
export type { Ask } from "./ask.ts";
export {
  type Axes,
  type Check,
  type CheckSpec,
  defineCheck,
  defineWatch,
  type Instance,
  instancesOf,
  type Need,
  suiteOf,
  withAnyKey,
} from "./check.ts";
export * from "./expectation.ts";
export { resultOf } from "./judge.ts";
export { type LimitedAccount, type LimitKind, limitedFor } from "./limited-account.ts";
export type { Probe } from "./probe.ts";
export { freeze, type Recordable, thaw } from "./recording.ts";
export { type RunnerOptions, runChecks } from "./runner.ts";
export { type Selection, select } from "./select.ts";
export { BudgetReached, type Held, isStale, readingRules, Traffic } from "./traffic.ts";
export { isAmbient, type Verdict } from "./verdict.ts";

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
export { type Explanation, explanationOf } from "./explanation.ts";
export { resultOf } from "./judge.ts";
export { type LimitedAccount, limitedFor } from "./limited-account.ts";
export type { Probe } from "./probe.ts";
export { freeze, type Recordable, thaw } from "./recording.ts";
export { runChecks } from "./runner.ts";
export { type Selection, select } from "./select.ts";
export { type Held, isStale, readingRules, Traffic } from "./traffic.ts";
export type { Verdict } from "./verdict.ts";

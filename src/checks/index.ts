export { accountOfKey } from "./account-of-key.ts";
export type { Axes } from "./axes.ts";
export { BODY_FORMS, type BodyForm, FILLER } from "./body-form.ts";
export { type BodyFact, ResponsePacker } from "./body-readings.ts";
export {
  type Check,
  type CheckSpec,
  type DialectOfCheck,
  defineCheck,
  defineInvariant,
  defineScenario,
  type Instance,
  inDialect,
  instancesOf,
  onAnyAccount,
  type RunKind,
  type Scenario,
  suiteOf,
  waitSOf,
} from "./check.ts";
export { describeContract } from "./contract.ts";
export { type Explanation, explanationOf } from "./explanation.ts";
export { describeStop, isOwnNetwork, stopIn } from "./gateway-stop.ts";
export type { Held } from "./held-request.ts";
export { resultOf } from "./judge.ts";
export { leftoversOf } from "./leftovers.ts";
export { type LimitedAccount, limitedFor, scheduleOn } from "./limited-account.ts";
export type { Need } from "./need.ts";
export { observationOf } from "./observation-of.ts";
export { describeOutage, isForGood, type Outage, outagesIn } from "./outage.ts";
export { outputTokensOf } from "./output-tokens.ts";
export { gapsOf, type Plan, planOf, preflightOf } from "./plan.ts";
export { readingRules, recordedRules } from "./reading-rules.ts";
export { freeze, type Recordable, thaw } from "./recording.ts";
export type { RequestSpec } from "./request-spec.ts";
export { variantOf } from "./request-variant.ts";
export { requestedModel } from "./requested-model.ts";
export { isStale, type ReadingRules, type RequestInfo, Response } from "./response.ts";
export { mergeRounds, mergeRuns } from "./rounds.ts";
export { notRun } from "./run-instance.ts";
export { type ConcurrentLoad, runChecks } from "./runner.ts";
export type { Schedule } from "./schedule.ts";
export { scoreBySet } from "./score-by-set.ts";
export { type Selection, select } from "./select.ts";
export { likenessOf } from "./served-models.ts";
export type { Session } from "./session.ts";
export { unblockLines } from "./static-fixture.ts";
export { defineStepScenario, type Step } from "./steps.ts";
export { TimeLeft } from "./time-left.ts";
export { isTimedOut } from "./timeout-policy.ts";
export { tokenLimitedFor } from "./token-limited-account.ts";
export { Traffic } from "./traffic.ts";
export type { Wait } from "./traffic-options.ts";
export { undeclaredRpm } from "./undeclared-limit.ts";
export type { ProviderSaw, Upstreamed } from "./upstream-probe.ts";
export { applyWaivers, type WaiverBreach } from "./waivers/apply-waivers.ts";
export { fingerprintOf } from "./waivers/fingerprint.ts";
export { suggestWaivers } from "./waivers/suggest-waivers.ts";
export { loadWaivers, waiversJsonSchema } from "./waivers/waiver-file.ts";

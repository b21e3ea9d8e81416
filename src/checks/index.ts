export type { Axes } from "./declare/axes.ts";
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
  type Scenario,
  type SendingCheck,
  suiteOf,
  waitSOf,
} from "./declare/check.ts";
export { describeContract } from "./declare/contract.ts";
export { coverageOf, customRequirementsOf } from "./declare/coverage.ts";
export type { CustomSuite } from "./declare/custom-suite.ts";
export { type Explanation, explanationOf } from "./declare/explanation.ts";
export type { Need } from "./declare/need.ts";
export type { RequestSpec } from "./declare/request-spec.ts";
export { variantOf } from "./declare/request-variant.ts";
export type { RunKind, Schedule } from "./declare/schedule.ts";
export { scoreBySet } from "./declare/score-by-set.ts";
export { type Selection, select } from "./declare/select.ts";
export { defineStepScenario, type Step } from "./declare/steps.ts";
export { accountOfKey } from "./fixtures/account-of-key.ts";
export { type LimitedAccount, limitedFor, scheduleOn } from "./fixtures/limited-account.ts";
export { likenessOf } from "./fixtures/served-models.ts";
export { unblockLines } from "./fixtures/static-fixture.ts";
export { tokenLimitedFor } from "./fixtures/token-limited-account.ts";
export { describeStop, isOwnNetwork, stopIn } from "./gateway/gateway-stop.ts";
export { describeOutage, isPermanent, type Outage, outagesIn } from "./gateway/outage.ts";
export { gapsOf, type Plan, planOf, preflightOf } from "./plan/plan.ts";
export { TimeLeft } from "./plan/time-left.ts";
export { BODY_FORMS, type BodyForm, FILLER } from "./response/body-form.ts";
export { type BodyFact, ResponsePacker } from "./response/body-readings.ts";
export type { HeldRequest } from "./response/held-request.ts";
export { observationOf } from "./response/observation-of.ts";
export { outputTokensOf } from "./response/output-tokens.ts";
export { ReadingCache } from "./response/reading-cache.ts";
export { readingRules } from "./response/reading-rules.ts";
export { freeze, type Recordable, responsesIn, thaw } from "./response/recording.ts";
export { requestedModel } from "./response/requested-model.ts";
export { isStale, type ReadingRules, type RequestInfo, Response } from "./response/response.ts";
export { resultOf } from "./runner/judge.ts";
export { leftoversOf } from "./runner/leftovers.ts";
export { mergeRounds, mergeRuns } from "./runner/rounds.ts";
export { notRun } from "./runner/run-instance.ts";
export { type ConcurrentLoad, runChecks } from "./runner/runner.ts";
export type { Session } from "./runner/session.ts";
export { isTimedOut } from "./traffic/timeout-policy.ts";
export { Traffic } from "./traffic/traffic.ts";
export type { Wait } from "./traffic/traffic-options.ts";
export { undeclaredRpm } from "./traffic/undeclared-limit.ts";
export type { MaskedUpstreamRequest, UpstreamTraffic } from "./traffic/upstream-probe.ts";
export { applyWaivers, type WaiverBreach } from "./waivers/apply-waivers.ts";
export { fingerprintOf } from "./waivers/fingerprint.ts";
export { suggestWaivers } from "./waivers/suggest-waivers.ts";
export { loadWaivers, waiversJsonSchema } from "./waivers/waiver-file.ts";

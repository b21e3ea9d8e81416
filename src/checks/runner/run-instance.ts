import { BudgetReached } from "../../budget/index.ts";
import { ConfigError, messageOf, StorageError, UnreachableError } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import type { Attestation, CheckResult, Status } from "../../record/index.ts";
import { dialectOf, dialectOfCheck, type Instance, needsOf, type SendingCheck, scheduleOf } from "../declare/check.ts";
import { MissingFixture, UndeclaredDialect } from "../declare/need.ts";
import { unblockLines } from "../fixtures/static-fixture.ts";
import { CircuitOpen } from "../gateway/circuit-breaker.ts";
import { NEW_DAY, newDayIn, reliesOnDailyCap } from "../gateway/new-day.ts";
import { describeOutage, isRefusedIn } from "../gateway/outage.ts";
import { ModelLost } from "../gateway/recovery.ts";
import { type Recordable, responsesIn } from "../response/recording.ts";
import type { Response } from "../response/response.ts";
import type { Traffic } from "../traffic/traffic.ts";
import { resultOf, suiteErrorOf, unjudged } from "./judge.ts";
import { Session, type SessionOptions } from "./session.ts";

export interface RunInstance extends Pick<SessionOptions, "others" | "share" | "afterOthers"> {
  readonly onRecording: ((instance: Instance, recording: Recordable) => void) | undefined;
}

/** Runs an instance if its fixtures exist, and judges it. */
export async function runInstance(instance: Instance, traffic: Traffic, options: RunInstance): Promise<CheckResult> {
  const dialect = dialectOf(instance, traffic.target);
  try {
    const attestations = await fixturesFor(instance, traffic, dialect);
    if (!Array.isArray(attestations)) return attestations;
    return await runAndJudge(instance, traffic, { ...options, attestations, dialect });
  } catch (error) {
    // The operator has to fix a broken hook: continuing would report its states as missing.
    if (error instanceof ConfigError) throw error;
    await traffic.watch.settled();
    return unfinished(instance, traffic, error);
  }
}

/**
 * Attestations of an instance's fixtures, or its result if one is missing. It sends, which may fail like a check's own
 * requests.
 */
async function fixturesFor(
  instance: Instance,
  traffic: Traffic,
  dialect: Dialect,
): Promise<Attestation[] | CheckResult> {
  const attestations: Attestation[] = [
    { state: "key.valid", by: traffic.target.source === "embedded" ? "embedded" : "asserted" },
  ];
  const missing: { name: string; why?: string }[] = [];
  const unblock: string[] = [];
  for (const need of needsOf(instance, traffic.target)) {
    const fixture = await traffic.fixtures.findVerified(need, dialect);
    if (fixture.ok) {
      attestations.push(fixture.attestation);
    } else if (fixture.skipped !== undefined) {
      return unjudged(instance, {
        status: "not-applicable",
        reason: { kind: "declared-gap", about: need, why: fixture.skipped },
      });
    } else {
      missing.push({ name: need, ...(fixture.because === undefined ? {} : { why: fixture.because }) });
      unblock.push(...fixture.unblock);
    }
  }
  if (missing.length > 0) {
    return unjudged(instance, { status: "blocked", reason: { kind: "missing-preconditions", missing }, unblock });
  }
  return attestations;
}

/** The result of an instance whose run threw. */
function unfinished(instance: Instance, traffic: Traffic, error: unknown): CheckResult {
  if (traffic.watch.stop !== undefined) return afterStop(instance, traffic);
  if (error instanceof ModelLost) return afterOutage(instance, error.message);
  if (error instanceof BudgetReached || error instanceof CircuitOpen)
    return unjudged(instance, { status: "inconclusive", reason: { kind: "open", text: error.message } });
  if (traffic.signal.aborted) return notRun(instance);
  if (error instanceof UndeclaredDialect)
    return unjudged(instance, { status: "not-applicable", reason: { kind: "open", text: error.message } });
  if (error instanceof MissingFixture)
    return unjudged(instance, {
      status: "blocked",
      reason: { kind: "missing-preconditions", missing: [{ name: error.need }] },
      unblock: unblockLines(error.need, traffic.target, error.dialect),
    });
  const { customSuite } = instance.check;
  // A full disk, for example, is nobody's mistake.
  const isOther = error instanceof StorageError || error instanceof UnreachableError;
  if (customSuite !== undefined && !isOther)
    return unjudged(instance, { status: "harness-error", reason: suiteErrorOf(customSuite, instance, error) });
  return unjudged(instance, {
    status: "harness-error",
    reason: { kind: "open", text: `the check failed to run: ${messageOf(error)}` },
  });
}

interface RunAndJudge extends RunInstance {
  readonly attestations: readonly Attestation[];
  readonly dialect: Dialect;
}

async function runAndJudge(instance: Instance, traffic: Traffic, options: RunAndJudge): Promise<CheckResult> {
  const { onRecording, others, share, afterOthers, attestations, dialect } = options;
  const check = instance.check as SendingCheck;
  const startedUs = traffic.recorder.nowUs();
  const key = scheduleOf(check, traffic.target).account === "any" ? await traffic.fixtures.keyTurns.next() : undefined;
  const anyDialect = dialectOfCheck(instance) === "any";
  const session = { key, others, share, afterOthers, by: instance.id, anyDialect, reaches: check.reaches };
  const run = () => check.run(new Session(traffic, { ...instance.axes, dialect }, session));
  const judged = (recording: Recordable) =>
    resultOf(instance, recording, { attestations, durationMs: (traffic.recorder.nowUs() - startedUs) / 1_000 });
  const first = await run();
  const strays = straysOf(check, judged(first), { traffic, recording: first });
  if (strays.length > 0) traffic.scenarios.forgetThoseWith(strays);
  const recording = strays.length > 0 ? await run() : first;
  if (await traffic.watch.wereLost(responsesIn(recording))) return afterStop(instance, traffic);
  // A request that we aborted because the run ended says nothing about the gateway.
  if (traffic.signal.aborted && responsesIn(recording).some(wasAborted)) return notRun(instance);
  const result = judged(recording);
  const outage = UNTOUCHED.includes(result.status) ? undefined : outageIn(traffic, recording);
  if (outage !== undefined) return afterOutage(instance, outage);
  if (
    !UNTOUCHED.includes(result.status) &&
    reliesOnDailyCap(instance) &&
    newDayIn(responsesIn(recording), traffic.startedAtMs)
  )
    return unjudged(instance, { status: "inconclusive", reason: { kind: "open", text: NEW_DAY } });
  onRecording?.(instance, recording);
  if (strays.length === 0) return result;
  traffic.serverErrors.repeated(result.status === "fail");
  return { ...result, exchanges: [...result.exchanges, ...strays.map(({ id }) => id)] };
}

/** Statuses that neither a stray 5xx nor an outage can have caused. */
const UNTOUCHED: readonly Status[] = ["pass", "observed", "not-applicable", "harness-error"];

/**
 * Stray 5xx responses to valid requests, and requests refused while a model was not served. If they may have decided a check,
 * it is run once more. Checks that reach limits or use up accounts have their own rules for them.
 */
function straysOf(
  { reaches }: SendingCheck,
  { status }: CheckResult,
  { traffic, recording }: { readonly traffic: Traffic; readonly recording: Recordable },
): Response[] {
  if (reaches !== undefined || UNTOUCHED.includes(status) || traffic.signal.aborted) return [];
  const responses = responsesIn(recording);
  const { outages } = traffic.watch.recovery;
  const refused = responses.filter((response) => isRefusedIn(outages, response));
  return [...new Set([...traffic.serverErrors.straysIn(responses), ...refused])];
}

/** The outage in which requests of a check were refused, as a sentence. */
function outageIn({ watch }: Traffic, recording: Recordable): string | undefined {
  const outage = watch.recovery.outages.find((one) =>
    responsesIn(recording).some((response) => isRefusedIn([one], response)),
  );
  return outage === undefined ? undefined : describeOutage(outage);
}

function afterOutage(instance: Instance, outage: string): CheckResult {
  return unjudged(instance, { status: "blocked", reason: { kind: "outage", text: outage } });
}

export function wasAborted({ exchange }: Response): boolean {
  return exchange.ending.kind === "aborted";
}

/** The result of an instance whose requests were lost, or not sent, because the gateway stopped responding. */
export function afterStop(instance: Instance, { watch: { stop } }: Traffic): CheckResult {
  const reason = { kind: "gateway-stopped", ...(stop === undefined ? {} : { after: stop.after.id }) } as const;
  return unjudged(instance, { status: "inconclusive", reason });
}

/** The result of an instance that the run did not reach. */
export function notRun(instance: Instance): CheckResult {
  return unjudged(instance, { status: "inconclusive", reason: { kind: "not-reached" } });
}

import { EXIT, formatCount, formatNumber, UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import {
  assertMeasurable,
  assertReachable,
  type Capacity,
  type CapacityStep,
  findCapacity,
  HOLD_S,
  parseObjective,
  type SearchRange,
  searchSeconds,
  servedWorkload,
  shortClass,
  type Workload,
} from "../../load/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { exitAfter, type RunControl, searchPermit } from "../../run/control/index.ts";
import { accountByName, findWorkload, type OpenTarget, openTarget, type TargetOptions } from "../../run/open/index.ts";
import { fillModels } from "../../run/preflight/index.ts";
import { openResultFolder } from "../../run/record/index.ts";
import { allKeys, keysOf, type Limits, type Target } from "../../target/index.ts";
import { describeCapacity, levelText, progressText, RATE, stepText } from "./text.ts";

export interface CapacityOptions extends Omit<TargetOptions, "policy"> {
  readonly out?: string | undefined;
  readonly objective: string;
  readonly account: string;
  readonly workload?: string | undefined;
  readonly streams: boolean;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly stepS: number;
  readonly minutes: number;
  readonly seed?: number | undefined;
}

/** Levels when the limits of the account are unknown. */
const FROM = 1;
const TO = 10_000;
/** Default of `--to`, as a multiple of the declared limit: high enough to exceed the limit. */
const DEFAULT_TO_FACTOR = 1.2;

/**
 * Searches for the capacity. Exit code 1: replies were unusable at some level. Exit code 4: no level reliably met the
 * objective, or time ran out.
 */
export async function capacity(options: CapacityOptions, control: RunControl): Promise<Outcome> {
  const { interruption, onProgress } = control;
  const clauses = parseObjective(options.objective);
  for (const [name, value] of Object.entries({ "--step-s": options.stepS, "--minutes": options.minutes })) {
    if (!(value > 0)) throw new UsageError(`${name}: ${value} is not a number above 0.`);
  }
  const write = openResultFolder(options.out, "capacity");
  await using opened: OpenTarget = await openTarget(options, { signal: interruption.signal, onProgress });
  const permit = searchPermit(opened.target, `capacity of ${options.account}`);
  const mix = mixOf(options, opened.target);
  assertMeasurable(clauses, mix);
  onProgress({ kind: "step", text: `connecting to ${opened.target.baseUrl}` });
  await assertReachable(opened.target);
  const target = await fillModels(permit);
  const account = accountByName(target, options.account);
  const { limits } = account;
  const { from, to } = levels(options, limits);
  const unit = options.streams ? "streams" : "rate";
  const name = options.streams ? "in flight" : RATE;
  const { stepS, minutes } = options;
  const range: SearchRange = { unit, from, to, stepS, limits };
  const neededMinutes = Math.ceil((await searchSeconds(range)) / 60);
  const tooShort =
    minutes * 60 < stepS + HOLD_S
      ? `; no time to hold a level for ${HOLD_S} s`
      : neededMinutes > minutes
        ? `; finding a limit in this range may take up to ${neededMinutes} minutes`
        : "";
  onProgress({
    kind: "note",
    text: `searching from ${levelText(from)} to ${levelText(to)} ${name}, for at most ${formatCount(minutes, "minute")} (budget: ${formatCount(permit.budget.allowed.requests, "request")})${tooShort}`,
  });
  const redactor = new Redactor(allKeys(target).map((key) => key.secret()));
  const raw = await findCapacity(
    {
      ...range,
      mix,
      clauses,
      minutes,
      onStep: (step) => onProgress({ kind: "note", text: stepText(redactor.redactValue(step), name) }),
      onRest: (leftS) => {
        onProgress({ kind: "note", text: `waiting ${formatNumber(leftS)} s for the rate window to empty` });
        onProgress({ kind: "step", text: "waiting for the rate window to empty", leftS });
      },
      onProgress: (level, now, leftS) =>
        onProgress({ kind: "step", text: progressText(`${levelText(level)} ${name}`, now), leftS, atMost: true }),
    },
    {
      target,
      budget: permit.budget,
      keys: keysOf(account),
      seed: options.seed ?? Date.now() % 0x7fffffff,
      stop: interruption.signal,
      abort: interruption.now,
      redactor,
      onSample: () => undefined,
      calibration: null,
    },
  );
  // The reason for a missed level may quote the gateway, and that text may contain a key.
  const found = redactor.redactValue(raw);
  const isOpen = found.best === undefined || found.cut !== null || found.binds === "generator";
  // A 2xx promises a reply. A gateway that has none must reject the request, at any level of load.
  const isBroken = found.steps.some(({ binds }) => binds === "invalid replies");
  const exitCode = exitAfter(interruption, isBroken ? EXIT.gateFailed : isOpen ? EXIT.inconclusive : EXIT.pass);
  const { objective } = options;
  const head = {
    ...{ name, objective, to, neededMinutes, exitCode },
    ...{ budget: permit.budget.allowed.requests, signal: interruption.by() },
  };
  return write({
    document: documentOf(found, { exitCode, unit, objective }),
    ...describeCapacity(found, head),
  });
}

/** The figures of a step are in the frontier. */
function documentOf({ best, beyond, held, steps, ...found }: Capacity, head: object): object {
  const bare = (step: CapacityStep | undefined) =>
    step && { ...step, point: undefined, outcomes: step.outcomes.map(({ needed: _, ...outcome }) => outcome) };
  return { ...head, ...found, best: bare(best), beyond: bare(beyond), held: bare(held), steps: steps.map(bare) };
}

function levels({ from, to, streams }: CapacityOptions, limits: Limits | undefined) {
  const limit = limits && (streams ? limits.inFlight : limits.rpm / 60);
  const first = from ?? (limit === undefined ? FROM : Math.max(FROM, limit / 4));
  const last = to ?? (limit === undefined ? TO : limit * DEFAULT_TO_FACTOR);
  if (!(first > 0) || last < first) throw new UsageError(`--from ${first} --to ${last} is not a range of load.`);
  return streams ? { from: Math.ceil(first), to: Math.ceil(last) } : { from: first, to: last };
}

function mixOf({ workload, streams }: CapacityOptions, target: Target): Workload["mix"] {
  if (workload !== undefined) return servedWorkload(findWorkload(workload), target).mix;
  return [shortClass(target, streams)];
}

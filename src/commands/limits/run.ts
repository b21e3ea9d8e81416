import { EXIT, formatCount, UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { analyseLimits, defaultLimitsPlan, type LimitsAnalysis } from "../../load/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { exitAfter, permitLine, type RunControl, searchPermit } from "../../run/control/index.ts";
import { accountByName, type OpenTarget, openTarget, type TargetOptions } from "../../run/open/index.ts";
import { assertKeysAccepted, fillModels } from "../../run/preflight/index.ts";
import { openResultFolder } from "../../run/record/index.ts";
import { allKeys, assertOneAddress, type Limits } from "../../target/index.ts";
import { describeLimits } from "./text.ts";

export interface LimitsOptions extends Omit<TargetOptions, "policy"> {
  readonly out?: string | undefined;
  readonly account: string;
  readonly requests?: number | undefined;
  readonly minutes?: number | undefined;
}

/** Analyses the limits of one account. Exits with 4 when the rate could not be determined or the run was interrupted. */
export async function limits(options: LimitsOptions, { interruption, onProgress }: RunControl): Promise<Outcome> {
  const write = openResultFolder(options.out, "limits");
  await using opened: OpenTarget = await openTarget(options, { signal: interruption.signal, onProgress });
  assertOneAddress(opened.target, "gauntlet limits");
  const { key, second, limits: declared } = accountByName(opened.target, options.account);
  const bounds = boundsOf(options, declared);
  const permit = searchPermit(opened.target, `limits of ${options.account}`, bounds.requests);
  const { budget } = permit;
  onProgress({
    kind: "note",
    text: `${permitLine(permit)}, for at most ${formatCount(bounds.minutes, "minute")}; nothing else may use the account during this time`,
  });
  onProgress({ kind: "step", text: `connecting to ${opened.target.baseUrl}` });
  const target = await fillModels(permit);
  const startMs = performance.now();
  const rejected = new AbortController();
  // What was observed may quote the gateway, and that text may contain a key.
  const redactor = new Redactor(allKeys(target).map((one) => one.secret()));
  const raw = await analyseLimits({
    target,
    key,
    second,
    other: otherThan(key, [target.keys.other, target.keys.valid]),
    declared,
    budget,
    bounds,
    stop: AbortSignal.any([interruption.signal, rejected.signal]),
    onRejected: () => rejected.abort(),
    onStep: (step) => {
      const { text } = redactor.redact(step);
      onProgress({ kind: "note", text });
      const leftS = bounds.minutes * 60 - (performance.now() - startMs) / 1_000;
      onProgress({ kind: "step", text, leftS, atMost: true });
    },
  });
  // Not before: the analysis must start with an idle account.
  if (rejected.signal.aborted) await assertKeysAccepted({ ...permit, target }, [key]);
  const analysis = redactor.redactValue(raw);
  const exitCode = exitAfter(interruption, exitOf(analysis));
  return write({
    document: {
      exitCode,
      target: target.name,
      account: options.account,
      declared: declared ?? null,
      budget: { requests: budget.allowed.requests, minutes: bounds.minutes },
      ...analysis,
    },
    ...describeLimits(analysis, { declared, budget: budget.allowed.requests, exitCode, signal: interruption.by() }),
  });
}

function boundsOf({ requests, minutes }: LimitsOptions, declared: Limits | undefined) {
  const usual = defaultLimitsPlan(declared);
  for (const [name, value] of Object.entries({ "--budget-requests": requests, "--minutes": minutes })) {
    if (value !== undefined && !(value > 0)) throw new UsageError(`${name}: ${value} is not a number above 0.`);
  }
  return { requests: requests ?? usual.requests, minutes: minutes ?? usual.minutes };
}

function otherThan<T>(key: T, candidates: readonly (T | undefined)[]): T | undefined {
  return candidates.find((candidate) => candidate !== undefined && candidate !== key);
}

function exitOf({ rate, cut }: LimitsAnalysis): number {
  return cut !== null || rate.perMinute.value === null ? EXIT.inconclusive : EXIT.pass;
}

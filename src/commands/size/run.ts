import { describeFacts } from "../../../reports/index.ts";
import { EXIT, formatCount, formatNumber, UsageError } from "../../core/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import {
  assertReachable,
  type DurationOf,
  runWorkload,
  type Sizing,
  servedWorkload,
  sizeWorkload,
  type Workload,
} from "../../load/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { exitAfter, permitFor, permitLine, planOfLoads, type RunControl } from "../../run/control/index.ts";
import { accountByName, findWorkload, type OpenTarget, openTarget } from "../../run/open/index.ts";
import { loadTargetOf } from "../../run/preflight/index.ts";
import { openResultFolder } from "../../run/record/index.ts";
import { allKeys, keysOf } from "../../target/index.ts";
import type { SizeOptions, Verified } from "./sizing-options.ts";
import { describeSizing } from "./text.ts";

/** Maximum difference between shares that agree: arrivals near a limit fall on either side of it. */
const SHARE_TOLERANCE = 0.02;

/**
 * Predicts which tier a workload needs. Exit code 1: a run disagrees, or requests were not served. Exit code 4: the run cannot
 * be judged.
 */
export async function size(options: SizeOptions, control: RunControl): Promise<Outcome> {
  const { ttftMs, tokensPerS, seed } = options;
  if (!(ttftMs >= 0) || !(tokensPerS > 0)) throw new UsageError("--ttft-ms and --tokens-per-s are numbers above 0.");
  const workload = findWorkload(options.workload);
  const write = openResultFolder(options.out, "size");
  const assumed: DurationOf = ({ maxTokens }) => ttftMs + (maxTokens / tokensPerS) * 1_000;
  const sizing = sizeWorkload(workload, assumed, { seed });
  const verified = options.verify ? await verify(workload, assumed, { ...options, ...control }) : undefined;
  const exitCode = exitAfter(control.interruption, verified === undefined ? EXIT.pass : exitOf(verified));
  return write({
    document: { exitCode, workload: workload.name, ...sizing, verified: verified ?? null },
    ...describeSizing({ sizing, verified, options, exitCode }),
  });
}

function exitOf({ broken, undecided, agrees }: Verified): number {
  if (broken !== null) return EXIT.gateFailed;
  if (undecided !== null) return EXIT.inconclusive;
  return agrees ? EXIT.pass : EXIT.gateFailed;
}

/** Gateway defects unrelated to its limits: unusable replies, and failures reported by its responses. */
function brokenBy({ findings }: JudgedPhase): string | null {
  const broken = findings.filter(
    ({ outcome, weight, basis }) => outcome === "broken" && weight === "fail" && basis === "content",
  );
  const first = broken.find(({ name }) => name !== "load.admitted" && name !== "load.denial-reasons");
  return first === undefined ? null : describeFacts(first);
}

/** Why a run says nothing about a limiter: nothing was admitted, or many requests ended for other reasons. */
function undecidedBy({ sent, admitted, denials, failed }: JudgedPhase, generatorValid: boolean): string | null {
  if (!generatorValid) return "the load generator was too busy";
  if (admitted === 0) return `none of ${formatCount(sent, "request")} was admitted`;
  const others = denials.filter(({ reason }) => !isLimitReason(reason)).reduce((sum, { count }) => sum + count, failed);
  if (others <= sent * SHARE_TOLERANCE) return null;
  return `${formatNumber(others)} of ${formatCount(sent, "request")} failed, or were denied for a reason other than a limit`;
}

async function verify(
  named: Workload,
  assumed: DurationOf,
  { interruption, onProgress, ...options }: SizeOptions & RunControl,
): Promise<Verified> {
  await using opened: OpenTarget = await openTarget(options, { signal: interruption.signal, onProgress });
  const workload = servedWorkload(named, opened.target);
  const permit = permitFor(opened.target, planOfLoads(opened.target, [workload], "thorough"), "load");
  const account = accountByName(opened.target, options.account);
  const { limits } = account;
  if (limits === undefined) {
    throw new UsageError(`the target names no limits of ${options.account}`, {
      hint: "Add `limits:` to the target file, or name an account that has them.",
    });
  }
  onProgress({ kind: "notice", text: permitLine(permit) });
  await assertReachable(opened.target);
  const target = await loadTargetOf(permit, [workload]);
  // A load that a threshold ends early says less about the limits.
  const { thresholds: _, ...load } = workload;
  const redactor = new Redactor(allKeys(target).map((key) => key.secret()));
  const measured = await runWorkload(load, {
    target,
    budget: permit.budget,
    keys: keysOf(account),
    seed: options.seed,
    stop: interruption.signal,
    abort: interruption.now,
    redactor,
    onSample: () => undefined,
    onProgress: (progress) => onProgress({ kind: "load", progress }),
    calibration: null,
  });
  // What was found may quote the gateway, and that text may contain a key.
  const run = redactor.redactValue(measured.run);
  const [phase] = run.phases as [JudgedPhase];
  const again: Sizing = sizeWorkload(workload, measuredDurations(phase, assumed), {
    seed: options.seed,
    more: { own: limits },
  });
  const shares = Object.values(again.tiers.find(({ tier }) => tier === "own")?.denied ?? {}).map(({ share }) => share);
  const predicted = [Math.min(...shares), Math.max(...shares)] as const;
  const deniedShare = phase.sent === 0 ? 0 : phase.denied / phase.sent;
  return {
    account: options.account,
    limits,
    requests: phase.sent,
    deniedShare,
    predicted,
    agrees: deniedShare >= predicted[0] - SHARE_TOLERANCE && deniedShare <= predicted[1] + SHARE_TOLERANCE,
    broken: brokenBy(phase),
    undecided: undecidedBy(phase, run.generator.valid),
  };
}

/** The measured median duration of admitted requests of a class; classes without any keep the assumption. */
function measuredDurations({ classes }: JudgedPhase, assumed: DurationOf): DurationOf {
  return (request) => {
    const found = classes.find(
      ({ dialect, stream, outcome }) =>
        outcome === "admitted" && dialect === request.dialect && stream === request.stream,
    );
    return found?.serviceMs?.p50 ?? assumed(request);
  };
}

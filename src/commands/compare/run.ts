import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { jsonDocument, renderRun } from "../../../reports/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { planOf, select } from "../../checks/index.ts";
import { assertEnoughPairs, compareLive, compareStored } from "../../compare/index.ts";
import { didYouMeanPath, EXIT, type ExitCode, formatCount, formatRounded, UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import {
  assertNoEvents,
  DEFAULT_ALLOW,
  type LoadProgress,
  loadWorkload,
  servedWorkload,
  shortClass,
  type Workload,
} from "../../load/index.ts";
import { nameWithAddress } from "../../policy/index.ts";
import { type Comparison, RunFolder, type RunRecord } from "../../record/index.ts";
import type { Interruption, OnProgress, Outcome, Permit, RunControl } from "../../run/control/index.ts";
import { checkPart, permitFor, permitLine, planOfLoads, sumOf } from "../../run/control/index.ts";
import { journalStart, optionWords } from "../../run/journal/index.ts";
import { type Build, defaultFolder, openFolder, startBuild } from "../../run/open/index.ts";
import { loadTargetOf } from "../../run/preflight/index.ts";
import { composeRecord, keepRecord } from "../../run/record/index.ts";
import { allKeys, type Target } from "../../target/index.ts";
import { BLOCKS, blockTooShort } from "./block-size.ts";
import { nextStep } from "./next-step.ts";
import { observeBehaviour, QUICK_SUITES, storedSide } from "./observe-behaviour.ts";
import { durationOf, runBlock } from "./run-block.ts";
import { sideNames } from "./side-names.ts";

export interface CompareOptions {
  /** Target files, or folders of stored runs. */
  readonly a?: string | undefined;
  readonly b?: string | undefined;
  readonly startA?: string | undefined;
  readonly startB?: string | undefined;
  readonly pairs: number;
  /** Duration of a block, s. */
  readonly blockS: number;
  /** Requests per second of a block; default derived from the limits of the target. */
  readonly rate?: number | undefined;
  /** Workload file of a block, instead of the default mix. */
  readonly workload?: string | undefined;
  readonly suites: readonly string[];
  /** For two stored runs: a latency counts as changed only if it differs by more than this factor. */
  readonly noiseFactor?: number | undefined;
  readonly seed?: number | undefined;
  readonly out?: string | undefined;
}

/** Compares two builds, or two stored runs, and writes the run folder. */
export async function compare(options: CompareOptions, control: RunControl): Promise<Outcome> {
  const named = [options.a, options.b].filter((path) => path !== undefined);
  const missing = named.filter((path) => !existsSync(path));
  const hint = "Name two target files, or the folders of two stored runs.";
  if (missing.length > 0) {
    const names = missing.map((path) => `"${path}"`).join(" or ");
    throw new UsageError(`there is no file or folder ${names}`, {
      hint: [...new Set(missing.map(didYouMeanPath))].join("") + hint,
    });
  }
  const stored = named.filter((path) => existsSync(join(path, "run.json")));
  const other = named.find((path) => !stored.includes(path) && (stored.length > 0 || statSync(path).isDirectory()));
  if (other !== undefined)
    throw new UsageError(`${other} is not the folder of a stored run: it has no run.json`, { hint });
  if (stored.length === 1 && named.length === 1)
    throw new UsageError("a stored run can only be compared with another stored run", { hint });
  if (stored.length === 2) return compareFolders(options);
  if (options.noiseFactor !== undefined)
    throw new UsageError("--noise-factor is for two stored runs: a live comparison measures the noise itself", {
      hint,
    });
  return compareBuilds(options, control);
}

async function compareFolders(options: CompareOptions): Promise<Outcome> {
  const names = sideNames({ path: options.a }, { path: options.b });
  const [a, b] = [storedSide(options.a ?? "", names.a), storedSide(options.b ?? "", names.b)];
  if (a.record.runId === b.record.runId)
    throw new UsageError(`${options.a} and ${options.b} are the same run, ${a.record.runId}`, {
      hint: "Name the folders of two different runs. Nothing was written.",
    });
  const comparison = compareStored(a, b, { noiseFactor: options.noiseFactor });
  using folder = new RunFolder(options.out ?? defaultFolder(new Date(), { name: "compare" }));
  // The record is that of the second run, compared with the first.
  return await finish({ ...b.record, command: "compare", comparison, verdict: verdictOf(comparison) }, folder);
}

/**
 * Number of metrics of the default mix: two kinds of requests with up to three metrics of two or three quantiles, reply
 * lengths, and two shares.
 */
const EXPECTED_FIGURES = 16;

async function compareBuilds(options: CompareOptions, { interruption, onProgress }: RunControl): Promise<Outcome> {
  assertEnoughPairs(options.pairs, EXPECTED_FIGURES);
  const startedAt = new Date();
  const seed = options.seed ?? startedAt.getTime() % 0x7fffffff;
  const { signal } = interruption;
  onProgress({ kind: "step", text: "starting or reading the builds" });
  await using builtA = await startBuild({ target: options.a, start: options.startA, option: "--start-a" }, signal);
  await using builtB = await startBuild({ target: options.b, start: options.startB, option: "--start-b" }, signal);
  const workload = workloadOf(options, builtA.target);
  const suites = options.suites.length === 0 ? QUICK_SUITES : options.suites;
  const note = (text: string) => onProgress({ kind: "note", text });
  // The first build is observed twice and gets two of the three blocks of each round: the second is the control.
  const permitA = permitOf(builtA, { times: 2, suites, workload, pairs: options.pairs });
  const permitB = permitOf(builtB, { times: 1, suites, workload, pairs: options.pairs });
  for (const permit of [permitA, permitB]) note(permitLine(permit));
  const totalS = [permitA, permitB].reduce((sum, { plan }) => sum + (plan.durationS ?? 0), 0);
  note(
    `about ${formatCount(Math.ceil(totalS / 60), "minute")} in all: the checks three times, then ${options.pairs} rounds`,
  );
  const short = blockTooShort(workload);
  if (short !== undefined) note(short);
  const targetA = await loadTargetOf(permitA, [workload]);
  const targetB = await loadTargetOf(permitB, [workload]);
  using folder = openFolder(options.out, startedAt, targetB, interruption);
  const names = sideNames({ path: options.a, start: options.startA }, { path: options.b, start: options.startB });
  note(`running the checks on ${names.a}, on ${names.b}, and on ${names.a} again (control): ${suites.join(", ")}`);
  const observe = (built: typeof builtA, { budget }: Permit, name: string) =>
    observeBehaviour(built, { budget, suites, seed, signal, onProgress, name });
  const a = await observe(builtA, permitA, `behaviour of ${names.a}, 1 of 3`);
  const b = await observe(builtB, permitB, `behaviour of ${names.b}, 2 of 3`);
  const control = await observe(builtA, permitA, `behaviour of ${names.a} again, 3 of 3`);
  const redactor = new Redactor([targetA, targetB].flatMap(allKeys).map((key) => key.secret()));
  const start = {
    command: "compare",
    arguments: redactor.redactValue(argumentsOf(options)),
    target: targetB,
    seed,
    startedAt,
  };
  journalStart(folder, start, redactor);
  const blockS = durationOf(workload);
  const length =
    blockS === undefined
      ? ""
      : `, ${formatRounded(blockS - workload.warmupS, 1)} s each, about ${Math.ceil((options.pairs * BLOCKS * blockS) / 60)} min`;
  note(`${options.pairs} rounds of three blocks${length}`);
  const block = { workload, redactor, stop: signal, abort: interruption.now };
  let blocks = 0;
  const compared = await compareLive({
    a: sideOf(names.a, targetA, options.startA),
    b: sideOf(names.b, targetB, options.startB),
    pairs: options.pairs,
    seed,
    behaviours: { a, b, control },
    signal,
    runBlock: async (name, round, blockSeed) => {
      folder.journal({ event: "block-started", name, round });
      const target = name === "B" ? targetB : targetA;
      const { budget } = name === "B" ? permitB : permitA;
      const shown = { A: names.a, B: names.b, "A'": `${names.a} again` }[name];
      const onBlock = blockProgress(onProgress, `round ${round + 1} of ${options.pairs}, ${shown}`, {
        blocksAfter: options.pairs * BLOCKS - ++blocks,
        blockS: blockS ?? 0,
      });
      return runBlock({ ...block, target, budget, seed: blockSeed, onProgress: onBlock });
    },
  });
  const by = interruption.by();
  const record = composeRecord({
    ...start,
    results: b.checks,
    requests: a.requests + b.requests + control.requests,
    interruptedBy: by,
    redactor,
  });
  const measuredS = options.workload === undefined ? options.blockS : undefined;
  const next = nextStep(compared, { workload, pairs: options.pairs, blockS: measuredS, interruptedBy: by });
  const comparison: Comparison = redactor.redactValue({ ...compared, ...(next !== undefined && { nextStep: next }) });
  const verdict = verdictOf(comparison);
  const { exitCode } = by === undefined ? verdict : record.verdict;
  return await finish({ ...record, comparison, verdict: { ...verdict, exitCode } }, folder, interruption);
}

/** The command-line arguments that determine the comparison. */
function argumentsOf(options: CompareOptions): string[] {
  return [
    ...[options.a, options.b].filter((path) => path !== undefined),
    ...optionWords("start-a", options.startA),
    ...optionWords("start-b", options.startB),
    ...optionWords("pairs", options.pairs),
    ...optionWords("block-s", options.blockS),
    ...optionWords("rate", options.rate),
    ...optionWords("workload", options.workload),
    ...options.suites.flatMap((suite) => optionWords("suites", suite)),
  ];
}

interface BuildPlan {
  /** How often the build is observed, and its number of blocks per round. */
  readonly times: number;
  readonly suites: readonly string[];
  readonly workload: Workload;
  readonly pairs: number;
}

/** The permit for all suites and blocks that a comparison sends to one build. */
function permitOf({ target, provisioner }: Build, { times, suites, workload, pairs }: BuildPlan): Permit {
  const instances = select(CHECKS, { suites, only: [] });
  const checks = planOf(instances, target, { canCreateKeys: provisioner !== undefined, rounds: times });
  const block = planOfLoads(target, [workload], "thorough");
  const count = times * pairs;
  const blocks = {
    ...block,
    name: `${count} blocks`,
    requests: block.requests * count,
    inputTokens: block.inputTokens * count,
    outputTokens: block.outputTokens * count,
    durationS: (block.durationS ?? 0) * count,
  };
  return permitFor(target, sumOf([checkPart(checks, target), blocks], false), "load");
}

/** Reports which block runs, and the remaining time of all blocks. */
function blockProgress(
  onProgress: OnProgress,
  text: string,
  { blocksAfter, blockS }: { readonly blocksAfter: number; readonly blockS: number },
): (progress: LoadProgress) => void {
  return ({ elapsedS }) =>
    onProgress({ kind: "step", text, leftS: blocksAfter * blockS + Math.max(0, blockS - elapsedS) });
}

/** Share of a limit that blocks may use: above it the comparison would measure denials, not builds. */
const SHARE_OF_LIMIT = 0.6;
const MAX_PER_S = 40;

/** Opens connections and fills caches before the measurement. */
const MAX_WARMUP_S = 1;

function workloadOf({ workload, rate, blockS }: CompareOptions, target: Target): Workload {
  const { limits } = target;
  if (workload !== undefined) {
    const served = servedWorkload(loadWorkload(workload), target);
    assertNoEvents(served, "a comparison sends short blocks of the load");
    return served;
  }
  const ratePerS = rate ?? Math.min(MAX_PER_S, limits === undefined ? MAX_PER_S : (limits.rpm / 60) * SHARE_OF_LIMIT);
  const warmupS = Math.min(MAX_WARMUP_S, blockS / 4);
  return {
    name: "block",
    arrivals: { kind: "poisson", ratePerS, durationS: warmupS + blockS },
    mix: [shortClass(target, false), shortClass(target, true)],
    warmupS,
    engine: "native",
    retryAfter: "none",
    allow: { ...DEFAULT_ALLOW, deniedShare: 1, failedShare: 1 },
    written: { ratePerS, blockS },
  };
}

function sideOf(name: string, target: Target, start: string | undefined): Comparison["a"] {
  return { name, label: nameWithAddress(start ?? target.name, target.baseUrl) };
}

const EXITS: Readonly<Record<Comparison["verdict"], ExitCode>> = {
  regressed: EXIT.gateFailed,
  "not worse": EXIT.pass,
  improved: EXIT.pass,
  inconclusive: EXIT.inconclusive,
};

function verdictOf({ verdict, reasons, a, b }: Comparison): RunRecord["verdict"] {
  const result = verdict === "regressed" ? "fail" : verdict === "inconclusive" ? "inconclusive" : "pass";
  return {
    result,
    exitCode: EXITS[verdict],
    headline: `${verdict.toUpperCase()}: ${b.name} compared with ${a.name}`,
    reasons: reasons.map(({ text }) => ({ kind: "comparison" as const, text })),
    qualifiers: [],
  };
}

async function finish(found: RunRecord, folder: RunFolder, interruption?: Interruption): Promise<Outcome> {
  const { record, isKept, ioError } = await keepRecord(folder, found, { interruption });
  return {
    exitCode: record.verdict.exitCode,
    document: { ...jsonDocument(record, folder.path), comparison: record.comparison },
    text: (colors) => renderRun(record, { colors, evidence: () => undefined, folder: folder.path, isKept }),
    ioError,
  };
}

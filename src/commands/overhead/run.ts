import { setTimeout as wait } from "node:timers/promises";
import { jsonDocument, renderRun } from "../../../reports/index.ts";
import { EXIT, type ExitCode, member, processorTimes, UsageError } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { guardOver, modelFor } from "../../load/index.ts";
import { conclude, type LaneTarget, type Level, type Measured, measureOverhead } from "../../overhead/index.ts";
import { nameWithAddress } from "../../policy/index.ts";
import type { Overhead, RunFolder, RunRecord } from "../../record/index.ts";
import type { Interruption, Outcome, Permit, RunControl } from "../../run/control/index.ts";
import { journalStart } from "../../run/journal/index.ts";
import { judgeByPolicy, readPolicy } from "../../run/judge/index.ts";
import { openFolder } from "../../run/open/index.ts";
import { composeRecord, keepRecord } from "../../run/record/index.ts";
import { allKeys, type Target } from "../../target/index.ts";
import { ProcessWatch } from "../../telemetry/watch/index.ts";
import { openArms, upstreamLogOf } from "./arms.ts";
import type { OverheadCommandOptions } from "./overhead-options.ts";

/** CPU share that others may use before they affect latencies. */
const MAX_BUSY = 0.75;

const POLL_INTERVAL_MS = 500;

/** Bounds of the options: ports of a machine, bytes of a body. */
const MAX_CLIENTS = 4_096;
const MAX_BYTES = 8_000_000;
const MIN_ROUNDS = 4;
const MAX_ROUNDS = 1_000;
const MAX_TOKENS = 64;

/** Measures the latency that gateways add to their upstream, and writes the run folder. */
export async function overhead(options: OverheadCommandOptions, control: RunControl): Promise<Outcome> {
  const { interruption, onProgress } = control;
  const levels = levelsOf(options);
  assertUsable(options);
  const policy = options.policy === undefined ? undefined : readPolicy(options.policy, { baseline: options.baseline });
  const startedAt = new Date();
  const seed = options.seed ?? startedAt.getTime() % 0x7fffffff;
  const busy = await busyShare();
  if (busy > MAX_BUSY && !options.anyway) return refused(busy);
  onProgress({ kind: "step", text: "connecting to the upstream and the gateways" });
  await using arms = await openArms(options, control);
  const gateways = arms.gateways.map(({ target }) => target);
  const direct = arms.direct.target;
  const dialect = dialectOf(options, gateways);
  const lane = ({ target, budget }: Permit): LaneTarget => ({
    name: nameOf(target, gateways),
    target,
    guard: guardOver(budget.reserve(budget.left().requests), {
      outputTokens: target.budget.outputTokens,
      circuit: target.circuit,
    }),
    requestOf: ({ stream, promptBytes }) => ({
      dialect,
      stream,
      model: modelFor(target, dialect, stream),
      prompt: promptOf(promptBytes),
      maxTokens: MAX_TOKENS,
      key: target.keys.valid,
    }),
  });
  const lanes = { direct: lane(arms.direct), gateways: arms.gateways.map(lane) };
  const guards = [lanes.direct, ...lanes.gateways];
  const [first] = gateways as [Target];
  using folder = openFolder(options.out, startedAt, first, interruption);
  const redactor = new Redactor([direct, ...gateways].flatMap((target) => allKeys(target).map((key) => key.secret())));
  journalStart(folder, { command: "overhead", target: first, seed, startedAt }, redactor);
  const pid = arms.pid ?? options.pid;
  using watch = pid === undefined ? undefined : ProcessWatch.of(pid);
  const measured = await measureOverhead({
    direct: lanes.direct,
    gateways: lanes.gateways.map((one, index) => ({ ...one, log: upstreamLogOf(gateways[index] as Target, dialect) })),
    levels,
    rounds: options.rounds,
    blockS: options.blockS,
    frontier: options.frontier,
    seed,
    // When the budget of one arm is used up, nothing is left to compare.
    stop: AbortSignal.any([interruption.signal, ...guards.map(({ guard }) => spentSignal(guard))]),
    abort: interruption.now,
    onProgress: (text, leftS) => onProgress({ kind: "step", text, leftS, atMost: true }),
    onNotice: (text) => onProgress({ kind: "notice", text }),
  });
  const found = { ...foundOf(measured, { direct, gateways, watch }), arguments: argumentsOf(options) };
  const by = interruption.by();
  const record = recordOf(found, { target: first, seed, startedAt, by, redactor });
  const unjudged: RunRecord = {
    ...record,
    verdict: verdictOf(found, { direct, gateways, stops: stopsOf(guards) }, { by, busy }),
  };
  return await finish(
    policy === undefined ? unjudged : await judgeByPolicy(unjudged, { policy }),
    folder,
    interruption,
  );
}

type Signal = ReturnType<RunControl["interruption"]["by"]>;

interface MeasuredArms {
  readonly direct: Target;
  readonly gateways: readonly Target[];
  /** Of the process of the first gateway. */
  readonly watch: ProcessWatch | undefined;
}

/** The measurements, the versions of the gateways, the address of the upstream, and the resource usage of the first gateway. */
function foundOf(
  { arms, ...measured }: Measured,
  { direct: { name, baseUrl }, gateways, watch }: MeasuredArms,
): Omit<Overhead, "arguments"> {
  const described = arms.map((arm, index) => ({
    ...arm,
    ...versionOf(gateways[index]),
    ...(index > 0 || watch === undefined ? {} : { process: watch.used }),
  }));
  return { ...measured, arms: described, direct: nameWithAddress(name, baseUrl) };
}

/** The version that the target file states. */
function versionOf(target: Target | undefined): { readonly version?: string } {
  const version = member(member(target?.configuration, "gateway"), "version");
  return typeof version === "string" ? { version } : {};
}

/** The command line that repeats a measurement, without its seed. */
function argumentsOf(options: OverheadCommandOptions): string[] {
  const given = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}`, value]);
  return [
    "--target",
    ...options.target,
    ...given("upstream", options.upstream),
    ...given("direct", options.direct),
    ...given("start", options.start),
    ...given("dialect", options.dialect),
    ...["--concurrency", options.concurrency, "--prompt-bytes", options.promptBytes],
    ...["--rounds", String(options.rounds), "--block-s", String(options.blockS)],
    ...(options.frontier ? [] : ["--no-frontier"]),
    ...given("policy", options.policy),
  ];
}

interface RecordFacts {
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  readonly by: Signal;
  readonly redactor: Redactor;
}

function recordOf(found: Overhead, { by, ...facts }: RecordFacts): RunRecord {
  const levels = [found.control, ...found.arms].flatMap((arm) => arm.levels);
  const record = composeRecord({
    ...facts,
    command: "overhead",
    results: [],
    requests: levels.reduce((sum, { requests }) => sum + requests, 0),
    build: undefined,
    interruptedBy: by,
  });
  return { ...record, overhead: facts.redactor.redactValue(found) };
}

async function finish(found: RunRecord, folder: RunFolder, interruption: Interruption): Promise<Outcome> {
  const { record, isKept, ioError } = await keepRecord(folder, found, { interruption });
  return {
    exitCode: record.verdict.exitCode,
    document: { ...jsonDocument(record, folder.path), ...record.overhead },
    text: (colors) => renderRun(record, { colors, evidence: () => undefined, folder: folder.path, isKept }),
    ioError,
  };
}

/** The name of a target, with its file if the name is not unique. */
function nameOf({ name, source }: Target, all: readonly Target[]): string {
  return all.filter((one) => one.name === name).length > 1 ? `${name} (${source})` : name;
}

/** Aborts when the budget of an arm is used up. An open circuit does not count: the measurement reports the failures. */
function spentSignal(guard: LaneTarget["guard"]): AbortSignal {
  const spent = new AbortController();
  guard.signal.addEventListener("abort", () => guard.stop?.kind !== "circuit" && spent.abort(), { once: true });
  return spent.signal;
}

/** Why arms stopped sending, one sentence each. */
function stopsOf(lanes: readonly LaneTarget[]): string[] {
  return lanes.flatMap(({ name, target, guard: { stop } }) => {
    if (stop === undefined) return [];
    if (stop.kind === "requests")
      return [`${name}: not measured within the budget of ${target.budget.requests} requests`];
    return [`${name}: ${stop.why}; the rest was not sent`];
  });
}

/** Each number of clients with the first size; each further size with the smallest number of clients. */
function levelsOf({ concurrency, promptBytes }: OverheadCommandOptions): Level[] {
  const clients = numbersOf(concurrency, "--concurrency", MAX_CLIENTS);
  const [first, ...further] = numbersOf(promptBytes, "--prompt-bytes", MAX_BYTES) as [number, ...number[]];
  const minClients = Math.min(...clients);
  const sized = [
    ...clients.map((count) => ({ concurrency: count, promptBytes: first })),
    ...further.map((bytes) => ({ concurrency: minClients, promptBytes: bytes })),
  ];
  return sized.flatMap((level) => [false, true].map((stream) => ({ ...level, stream })));
}

function numbersOf(text: string, option: string, max: number): number[] {
  const numbers = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (numbers.every((number) => number >= 1 && number <= max)) return [...new Set(numbers)];
  throw new UsageError(`${option}: "${text}" is not a list of whole numbers from 1 to ${max}`, {
    hint: `For example ${option} 1,8,32.`,
  });
}

function assertUsable({ rounds, blockS, pid }: OverheadCommandOptions): void {
  if (!Number.isInteger(rounds) || rounds < MIN_ROUNDS || rounds > MAX_ROUNDS)
    throw new UsageError(`--rounds: ${rounds} is not a whole number from ${MIN_ROUNDS} to ${MAX_ROUNDS}`);
  if (pid !== undefined && ProcessWatch.of(pid) === undefined)
    throw new UsageError(`--pid: no process ${pid} can be read here`);
  if (!(blockS > 0)) throw new UsageError(`--block-s: ${blockS} is not a number above 0`);
}

function dialectOf({ dialect }: OverheadCommandOptions, gateways: readonly Target[]): Dialect {
  const common = (["chat", "messages"] as const).filter((one) =>
    gateways.every(({ dialects }) => dialects.includes(one)),
  );
  const chosen = common.find((one) => dialect === undefined || one === dialect);
  if (chosen !== undefined) return chosen;
  throw new UsageError(
    dialect === undefined
      ? "the gateways have no dialect in common"
      : `not every gateway serves the ${dialect} dialect`,
  );
}

/** Meaningless words with a total length of `bytes`. */
function promptOf(bytes: number): string {
  return "measure ".repeat(Math.ceil(bytes / 8)).slice(0, bytes);
}

interface JudgedArms {
  readonly direct: Target;
  readonly gateways: readonly Target[];
  /** Why some arms stopped sending. */
  readonly stops: readonly string[];
}

function verdictOf(
  found: Overhead,
  { direct, gateways, stops }: JudgedArms,
  { by, busy }: { readonly by: Signal; readonly busy: number },
): RunRecord["verdict"] {
  const concluded = conclude(found);
  // Comparing something with itself shows nothing.
  const itself = gateways.filter(({ baseUrl }) => baseUrl === direct.baseUrl);
  const isOpen = itself.length > 0 || stops.length > 0;
  const result = isOpen && concluded.result === "pass" ? "inconclusive" : concluded.result;
  const reasons = [
    ...stops,
    ...itself.map(({ name }) => `${name} is the upstream itself: both have one address`),
    ...concluded.reasons,
  ];
  const bound = found.arms.flatMap(({ levels }) => levels).some((level) => level.upstreamBound);
  const qualifiers = [
    ...(busy > MAX_BUSY ? [`on a machine that was ${Math.round(busy * 100)} % busy`] : []),
    ...(bound ? ["some levels are upstream-bound"] : []),
  ];
  const names = gateways.map(({ name, baseUrl }) => nameWithAddress(name, baseUrl)).join(", ");
  const cut = by !== undefined && result !== "fail";
  const shown = cut ? "inconclusive" : result;
  const headline = [`${shown.toUpperCase()}: overhead of ${names}`, ...qualifiers].join("; ");
  return {
    result: shown,
    exitCode: by === "SIGINT" ? EXIT.interrupted : by === "SIGTERM" ? EXIT.terminated : EXITS[shown],
    headline,
    reasons: [...(cut ? [`interrupted by ${by}`] : []), ...reasons].map((text) => ({ kind: "run" as const, text })),
    qualifiers,
  };
}

const EXITS = { pass: EXIT.pass, fail: EXIT.gateFailed, inconclusive: EXIT.inconclusive } as const satisfies Record<
  string,
  ExitCode
>;

/** Nothing is sent from a machine that is too busy. */
function refused(busy: number): Outcome {
  const why = `other processes use ${Math.round(busy * 100)} % of this machine's CPUs: a measurement now would be meaningless`;
  const exitCode = EXIT.inconclusive;
  const control = { name: "direct", levels: [], fit: false, message: why };
  return {
    exitCode,
    document: { verdict: "inconclusive", exitCode, reasons: [{ text: why }], ceilingPerS: null, arms: [], control },
    text: () => `INCONCLUSIVE: ${why}.\nWait until it is quiet, or pass --anyway.\n`,
  };
}

/** Share of this machine's CPUs in use while this program only waits, 0 to 1. */
async function busyShare(): Promise<number> {
  const before = processorTimes();
  await wait(POLL_INTERVAL_MS);
  const after = processorTimes();
  const all = after.all - before.all;
  return all <= 0 ? 0 : (after.busy - before.busy) / all;
}

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { jsonDocument, renderTerminal } from "../../reports/index.ts";
import { CHECKS } from "../../suites/index.ts";
import type { Exchange } from "../client/index.ts";
import {
  freeze,
  type Instance,
  leftoversOf,
  loadWaivers,
  mergeRuns,
  runChecks,
  select,
  Traffic,
} from "../conformance/index.ts";
import { UsageError } from "../core/index.ts";
import { type CheckResult, RunFolder } from "../record/index.ts";
import { hookSupplier, loadTarget, type Supplier, startEmbedded, type Target } from "../target/index.ts";
import { colorsFor } from "./colors.ts";
import { composeRecord } from "./compose-record.ts";
import { dryRun } from "./dry-run.ts";
import { prepare } from "./preflight.ts";
import { progress } from "./progress.ts";
import { settle, unscoredRows } from "./settle-results.ts";
import { writeReports } from "./write-reports.ts";

export interface ConformOptions {
  readonly command: string;
  readonly suites: readonly string[];
  readonly only: readonly string[];
  /** Path of a target file, or `embedded`. */
  readonly target: string;
  readonly json: boolean;
  readonly out?: string | undefined;
  readonly seed?: number | undefined;
  readonly fault: readonly string[];
  readonly variant: readonly string[];
  /** Path of a waiver file. */
  readonly waivers?: string | undefined;
  /** How often every check is run; default 1. */
  readonly repeat?: number | undefined;
  /** Say what would be sent, and send nothing. */
  readonly dryRun?: boolean | undefined;
}

/** More rounds than this say nothing more about flaky checks and wear out the gateway. */
const MOST_ROUNDS = 100;

/** Runs conformance checks, writes the run folder, prints the verdict, and tells the exit code. */
export async function conform(options: ConformOptions): Promise<number> {
  const instances = select(CHECKS, options);
  const rounds = roundsOf(options);
  const waivers = options.waivers === undefined ? [] : loadWaivers(options.waivers);
  const startedAt = new Date();
  const seed = options.seed ?? startedAt.getTime() % 0x7fffffff;
  await using interruption = watchSignals();
  await using supplied = await supplyTarget(options, interruption.signal);
  const { target } = supplied;
  const unscored = unscoredRows(target);
  if (options.dryRun === true) return dryRun({ instances, target, rounds, json: options.json });
  using folder = new RunFolder(options.out ?? defaultFolder(startedAt, target));
  const runs: CheckResult[][] = [];
  const probed = new Set<Instance>();
  const exchanges = new Map<string, Exchange>();
  await using traffic = new Traffic({
    target,
    seed,
    signal: interruption.signal,
    supplier: supplied.supplier,
    onAnswer: ({ exchange, asked }) => {
      exchanges.set(exchange.id, exchange);
      folder.exchange({ asked, exchange });
    },
  });
  folder.journal({ event: "started", command: options.command, target: target.name, seed, checks: instances.length });
  const bar = progress(process.stderr, options.json);
  const prepared = await prepare(traffic);
  bar.start(instances.length * rounds);
  let done = 0;
  for (let round = 0; round < rounds && !interruption.signal.aborted; round++) {
    if (round > 0) prepared.nextRound();
    const results = await runChecks({
      instances,
      traffic: prepared,
      onStart: ({ id }) => folder.journal({ event: "check-started", check: id, round }),
      onRecording: (instance, recording) => {
        probed.add(instance);
        folder.recording(instance.id, freeze(recording), round);
      },
      onResult: ({ id, status, message }) => {
        folder.journal({ event: "check-finished", check: id, round, status, message });
        bar.step(++done, id);
      },
    });
    runs.push(results);
  }
  bar.stop();
  const settled = settle(mergeRuns(runs), { unscored, waivers, today: startedAt });
  const record = composeRecord({
    command: options.command,
    target,
    seed,
    startedAt,
    results: settled.results,
    waivers,
    breaches: settled.breaches,
    unscored,
    rounds,
    leftovers: await leftoversOf(prepared, [...probed]),
    requests: traffic.sent,
    build: traffic.answers.map((answer) => answer.header("server")).find((server) => server !== undefined),
    interruptedBy: interruption.by(),
    redactor: traffic.recorder.redactor,
  });
  folder.record(record);
  writeReports(folder.path);
  folder.journal({ event: "finished", verdict: record.verdict.word, exitCode: record.verdict.exitCode });
  if (options.json) process.stdout.write(`${JSON.stringify(jsonDocument(record, folder.path))}\n`);
  else {
    const text = renderTerminal(record, {
      colors: colorsFor(process.stdout),
      exchange: (id) => exchanges.get(id),
      folder: folder.path,
    });
    process.stdout.write(text);
  }
  return record.verdict.exitCode;
}

function roundsOf({ repeat = 1 }: ConformOptions): number {
  if (Number.isInteger(repeat) && repeat >= 1 && repeat <= MOST_ROUNDS) return repeat;
  throw new UsageError(`--repeat takes a whole number from 1 to ${MOST_ROUNDS}`);
}

/** The target of a run, with the embedded gateway started if it is that. */
async function supplyTarget(
  options: ConformOptions,
  signal: AbortSignal,
): Promise<AsyncDisposable & { readonly target: Target; readonly supplier: Supplier | undefined }> {
  if (options.target !== "embedded") {
    const target = loadTarget(options.target, process.env);
    const { provision } = target;
    const supplier =
      provision &&
      hookSupplier({
        command: provision.command,
        file: target.source,
        runId: randomUUID(),
        ...(provision.timeoutS === undefined ? {} : { timeoutMs: provision.timeoutS * 1_000 }),
      });
    return { target, supplier, async [Symbol.asyncDispose]() {} };
  }
  const switches = [
    ...options.fault.flatMap((name) => ["--fault", name]),
    ...options.variant.flatMap((name) => ["--variant", name]),
  ];
  const embedded = await startEmbedded({ command: [process.execPath, mainFile(), "gateway", ...switches], signal });
  // With a fault or a variant it is another gateway: the record says so, and so do the commands that repeat it.
  const { fault, variant } = options;
  const configuration = {
    target: "embedded",
    ...(fault.length === 0 ? {} : { faults: fault }),
    ...(variant.length === 0 ? {} : { variants: variant }),
  };
  return { ...embedded, target: { ...embedded.target, configuration } };
}

/** Our own entry file: the embedded gateway is this program, started again. */
function mainFile(): string {
  return fileURLToPath(new URL(`../main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));
}

function defaultFolder(startedAt: Date, target: Target): string {
  const time = startedAt.toISOString().replace(/[:.]/g, "-").slice(0, 23);
  return `gauntlet-runs/${time}-${target.name.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 40)}`;
}

interface Interruption extends AsyncDisposable {
  readonly signal: AbortSignal;
  by(): "SIGINT" | "SIGTERM" | undefined;
}

/** The first signal ends the run with a report; a second one of the same kind ends the process. */
function watchSignals(): Interruption {
  const controller = new AbortController();
  let by: "SIGINT" | "SIGTERM" | undefined;
  const stop = (signal: "SIGINT" | "SIGTERM") => {
    by = signal;
    controller.abort();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  return {
    signal: controller.signal,
    by: () => by,
    async [Symbol.asyncDispose]() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { EXIT, UsageError } from "../../core/index.ts";
import type { ConformOptions } from "../../run/conformance/index.ts";
import { mainFile, targetFileOf } from "../../run/open/index.ts";
import { FileChanges } from "./file-changes.ts";

export interface OnChangeControl {
  /** The command line, from the name of the command on. */
  readonly args: readonly string[];
  /** Ends everything; the reason is the signal that the process received. */
  readonly stop: AbortSignal;
  readonly onNotice: (text: string) => void;
}

/**
 * Runs the selected checks, and again each time the target file or an own suite changes. A change aborts the current run, which
 * still writes its report. Each run is a separate process: a module of a suite cannot be loaded twice by one process.
 *
 * @returns exit code of the last run.
 * @throws UsageError if there is nothing to watch.
 */
export async function conformOnChange(options: ConformOptions, control: OnChangeControl): Promise<number> {
  const { stop, onNotice } = control;
  if (options.json === true) {
    throw new UsageError("--watch cannot be combined with --json, which prints one document", {
      hint: "Omit one of them.",
    });
  }
  const file = targetFileOf(options);
  const files = [...(file === undefined ? [] : [file]), ...(options.suite ?? [])];
  if (files.length === 0) {
    throw new UsageError("--watch has no file to watch: the target is the embedded gateway", {
      hint: "Name a target file with --target, or your own suite with --suite.",
    });
  }
  using changes = new FileChanges(files);
  const stopped = stop.aborted ? Promise.resolve() : once(stop, "abort");
  for (let run = 1; ; run++) {
    const child = start(argumentsOf(run, control.args));
    const ended = exitCodeOf(child);
    const changed = changes.next();
    await Promise.race([ended, changed, stopped]);
    // Without effect if it has ended. A terminal has sent the signal to the child already; then its requests end sooner.
    if (!(await isOver(ended))) child.kill(stop.aborted ? stop.reason : "SIGINT");
    const exitCode = await ended;
    if (stop.aborted) return exitCode;
    if (!(await isOver(changed)))
      onNotice(`exit code ${exitCode}; waiting for ${files.join(" or ")} to change; press Ctrl-C to stop`);
    await Promise.race([changed, stopped]);
    if (stop.aborted) return exitCode;
    onNotice(`${(await changed).join(" and ")} changed: running the checks again`);
  }
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, mainFile(), ...args], { stdio: "inherit" });
}

/** Exit code of a process; one that a signal ended before it could handle it was interrupted. */
async function exitCodeOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === "SIGTERM" ? EXIT.terminated : EXIT.interrupted);
}

/** Whether a promise has been fulfilled by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

/** The command line of one run: with `--out`, every run has its own folder. */
function argumentsOf(run: number, args: readonly string[]): string[] {
  const own = args.filter((arg) => !/^--watch(?:=|$)/.test(arg));
  const at = own.findIndex((arg) => arg === "--out" || arg.startsWith("--out="));
  if (run === 1 || at < 0) return own;
  const isSeparate = own[at] === "--out";
  const out = isSeparate ? own[at + 1] : own[at]?.slice("--out=".length);
  return own.toSpliced(at, isSeparate ? 2 : 1, `--out=${out}-${run}`);
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { messageOf, sleep, UnreachableError, UsageError } from "../../core/index.ts";
import { addressesOf, loadTarget, type Provisioner, startEmbedded, type Target } from "../../target/index.ts";
import { mainFile } from "./open-target.ts";

/** A build under comparison. */
export interface Build extends AsyncDisposable {
  readonly target: Target;
  readonly provisioner: Provisioner | undefined;
  /** Process of a build that has both a target file and a start command. */
  readonly pid?: number | undefined;
}

/** Longest wait until a started build responds, ms. */
const START_MS = 60_000;
const POLL_MS = 100;
/** Longest wait for a clean exit, ms. */
const STOP_MS = 5_000;

interface BuildSource {
  readonly target: string | undefined;
  readonly start: string | undefined;
  /** The option with the start command: errors begin with it. */
  readonly option: string;
}

/**
 * A build given by its target file, by a start command, or both. A command alone has to print the ready line of the reference
 * gateway; with a target file, we poll the gateway until it responds.
 */
export async function startBuild(
  { target, start, option }: BuildSource,
  signal: AbortSignal,
  environment: Readonly<Record<string, string>> = {},
): Promise<Build> {
  if (start === undefined) {
    if (target === undefined)
      throw new UsageError("name two targets, two stored runs, or commands that start two builds");
    return { target: loadTarget(target, process.env), provisioner: undefined, async [Symbol.asyncDispose]() {} };
  }
  const command = commandOf(start, option);
  if (target !== undefined)
    return startWithTarget(loadTarget(target, process.env), command, { start, option, signal, environment });
  const hint = `Without a target file, the command must start \`gauntlet gateway\`. To start any other gateway, name its target file as well.`;
  const failure = (message: string, options: ErrorOptions) => new UsageError(message, { ...options, hint });
  const userCommand = { what: `the build "${start}"`, option, failure };
  const embedded = await startEmbedded({ command, signal, userCommand });
  return { ...embedded, target: { ...embedded.target, name: start, configuration: { target: "embedded", start } } };
}

interface StartContext {
  /** The command as written. */
  readonly start: string;
  readonly option: string;
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string>>;
}

async function startWithTarget(
  target: Target,
  command: readonly [string, ...string[]],
  { start, option, signal, environment }: StartContext,
): Promise<Build> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...environment },
  });
  const failed = once(child, "error").then(([error]) => {
    throw new UsageError(`${option}: the build "${start}" cannot be started: ${messageOf(error)}`);
  });
  // Its end is checked below; a failure to start must not be reported twice.
  failed.catch(() => {});
  try {
    await Promise.race([failed, untilResponding(target, child, { start, option, signal })]);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { target, provisioner: undefined, pid: child.pid, [Symbol.asyncDispose]: () => stop(child) };
}

type Awaited = Pick<StartContext, "start" | "option" | "signal">;

async function untilResponding(target: Target, child: ChildProcess, context: Awaited): Promise<void> {
  for (const url of addressesOf(target)) await untilAddressResponds(url, child, context);
}

async function untilAddressResponds(
  url: string,
  child: ChildProcess,
  { start, option, signal }: Awaited,
): Promise<void> {
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    if (child.exitCode !== null)
      throw new UnreachableError(
        `${option}: the build "${start}" ended with exit code ${child.exitCode} before it responded at ${url}`,
        { hint: "Try the command alone: it must keep running and serve that address." },
      );
    try {
      const { body } = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(2_000) });
      await body?.cancel();
      return;
    } catch {
      // Not ready yet: retry until the deadline.
    }
    if (!(await sleep(POLL_MS, signal))) return;
  }
  throw new UnreachableError(`${option}: the build "${start}" did not respond at ${url} within ${START_MS / 1_000} s`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(hard);
}

/** Words of a command line, with quotes; `gauntlet` is this program. No shell: its child processes would outlive it. */
function commandOf(text: string, option: string): [string, ...string[]] {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
  const [program, ...args] = words;
  if (program === undefined) throw new UsageError(`${option}: the command that starts a build is empty`);
  return program === "gauntlet" ? [process.execPath, mainFile(), ...args] : [program, ...args];
}

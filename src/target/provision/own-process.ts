import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { EXIT, GauntletError, isObject, messageOf, UsageError } from "../../core/index.ts";

/** A part of this program that runs in a separate process did not start. */
class OwnProcessError extends GauntletError {
  readonly code = "OWN_PROCESS";
  readonly exit = EXIT.internal;
}

export interface OwnProcess extends AsyncDisposable {
  /** The content of its ready line. */
  readonly ready: Readonly<Record<string, unknown>>;
}

/** Timeout for the ready line, ms: a cold start on a busy machine takes about two seconds. */
const START_MS = 30_000;
/** Longest wait for a clean exit before the process is killed, ms. */
const STOP_MS = 5_000;

export interface OwnProcessOptions {
  /** What it is, for error messages. */
  readonly what: string;
  /** A text field of its ready line. */
  readonly readyField: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for a clean exit before the process is killed, ms; default 5,000. */
  readonly stopMs?: number;
  /** The option with the command, if it is the user's: errors begin with it. */
  readonly option?: string;
  /** The error if it does not start; by default an internal one. A command that the user gave is the user's to correct. */
  readonly failure?: (message: string, options: ErrorOptions) => GauntletError;
}

const internalFailure = (message: string, options: ErrorOptions) => new OwnProcessError(message, options);

/** Starts a command of this program that prints a line of JSON when it is ready, and ends with this process. */
export async function startOwnProcess(
  [program, ...args]: readonly [string, ...string[]],
  { what, readyField, signal, stopMs = STOP_MS, option, failure = internalFailure }: OwnProcessOptions,
): Promise<OwnProcess> {
  // The channel carries no data: the process ends when it closes, even if this process is killed.
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  child.channel?.unref();
  const { stdout } = child;
  if (stdout === null) throw new OwnProcessError(`${what} has no output`);
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr = (stderr + bytes.toString("utf8")).slice(-4_000);
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const hard = setTimeout(() => child.kill("SIGKILL"), stopMs);
    await exited;
    clearTimeout(hard);
  };
  try {
    const ready = await readyLine(stdout, exited, signal);
    if (typeof ready[readyField] !== "string") throw new Error("its first line was not the ready line.");
    return { ready, [Symbol.asyncDispose]: stop };
  } catch (error) {
    // A program that cannot be found never ran, so it cannot be stopped either.
    if (child.pid !== undefined) await stop();
    // A usage error is about one of our options that was passed on.
    const begin = option === undefined ? "" : `${option}: `;
    if (child.exitCode === EXIT.usage)
      throw new UsageError(`${begin}${stderr.trim().replace(/^gauntlet: /, "")}`, { cause: error });
    throw failure(`${begin}${what} did not start: ${messageOf(error)} ${stderr.trim()}`.trim(), { cause: error });
  }
}

async function readyLine(
  stdout: NodeJS.ReadableStream,
  exited: Promise<unknown>,
  signal?: AbortSignal,
): Promise<OwnProcess["ready"]> {
  const lines = createInterface({ input: stdout });
  const deadline = AbortSignal.timeout(START_MS);
  const first = once(lines, "line", { signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]) });
  const line: unknown = await Promise.race([
    first.then(([text]) => JSON.parse(String(text))),
    exited.then(() => {
      throw new Error("it ended before it was ready.");
    }),
  ]);
  if (!isObject(line)) throw new Error("its first line was not the ready line.");
  return line;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { EXIT, GauntletError, isObject, messageOf, UsageError } from "../core/index.ts";

/** A part of this program that runs in a process of its own did not come up. */
class OwnProcessError extends GauntletError {
  readonly code = "OWN_PROCESS";
  readonly exit = EXIT.internal;
}

export interface OwnProcess extends AsyncDisposable {
  /** What it said in its one line when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
}

/** Longest wait for the ready line, ms: a cold start on a busy machine takes about two seconds. */
const START_MS = 30_000;
/** Longest wait for a clean end before the process is ended for good, ms. */
const STOP_MS = 5_000;

interface OwnProcessOptions {
  /** What it is, for the messages of errors. */
  readonly what: string;
  /** A field of its ready line that holds a text. */
  readonly readyField: string;
  readonly signal?: AbortSignal | undefined;
}

/** Starts a command of this program that prints a line of JSON when it is ready, and ends when this process does. */
export async function startOwnProcess(
  [program, ...args]: readonly [string, ...string[]],
  { what, readyField, signal }: OwnProcessOptions,
): Promise<OwnProcess> {
  // The channel carries nothing: the process ends when it closes, also when this one was killed.
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
    const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(hard);
  };
  try {
    const ready = await readyLine(stdout, exited, signal);
    if (typeof ready[readyField] !== "string") throw new Error("its first line was not the ready line.");
    return { ready, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    // Its complaint about an option is about an option of ours that was passed on.
    if (child.exitCode === EXIT.usage) throw new UsageError(stderr.trim().replace(/^gauntlet: /, ""), { cause: error });
    throw new OwnProcessError(`${what} did not start: ${messageOf(error)} ${stderr.trim()}`.trim(), { cause: error });
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

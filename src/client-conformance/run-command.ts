import { type ChildProcess, spawn } from "node:child_process";
import { messageOf, onAbort, sleep, UsageError } from "../core/index.ts";
import type { CommandEnding } from "./observation.ts";

interface CommandOptions {
  readonly command: readonly [program: string, ...args: string[]];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Stops the command; its reason becomes the `by` of the ending. */
  readonly stop: AbortSignal;
}

/** Time between SIGTERM and SIGKILL, milliseconds. */
const GRACE_MS = 1_000;
/** Maximum wait for output after the exit, milliseconds. */
const DRAIN_MS = 500;
/** Output that is kept: the beginning of stdout, the end of stderr. Bytes. */
const KEPT = { stdout: 1 << 20, stderr: 4_000 };

/**
 * Runs a command until it exits or is stopped, then kills all processes of its group.
 *
 * @throws UsageError if it cannot be started.
 */
export async function runCommand({ command, environment, stop }: CommandOptions): Promise<CommandEnding> {
  const [program, ...args] = command;
  const startMs = performance.now();
  // A separate process group, so that child processes of the command are killed with it.
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: environment, detached: true });
  const exited = ended(child, "exit");
  const closed = ended(child, "close");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (stdout.length < KEPT.stdout) stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-KEPT.stderr);
  });
  let by: CommandEnding["by"] = "itself";
  let hard: NodeJS.Timeout | undefined;
  const end = () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    by = stop.reason as CommandEnding["by"];
    signalGroup(child, "SIGTERM");
    hard = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  };
  using _stopping = onAbort(stop, end);
  if (stop.aborted) end();
  try {
    const { exitCode, signal, error } = await exited;
    if (error !== undefined) {
      throw new UsageError(`${program} cannot be started: ${messageOf(error)}`, {
        hint: "Put the command after --, as in a shell: gauntlet client -- node app.js",
      });
    }
    const durationMs = performance.now() - startMs;
    signalGroup(child, "SIGKILL");
    // The last output may still be in the pipes; a process that left the group may hold them open forever.
    await Promise.race([closed, sleep(DRAIN_MS)]);
    return { by, exitCode, signal, durationMs, stdout, stderr };
  } finally {
    clearTimeout(hard);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly error?: unknown;
}

/** Resolves when the process has exited or could not be started. Never rejects. */
function ended(child: ChildProcess, event: "exit" | "close"): Promise<Ended> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: null, signal: null, error }));
    child.once(event, (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

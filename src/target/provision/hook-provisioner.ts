import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, resolve } from "node:path";
import { ConfigError, isObject, maskLikely, messageOf, onAbort } from "../../core/index.ts";
import { Key } from "../key.ts";
import type { Provisioner } from "./provisioner.ts";

export interface HookOptions {
  /** Command line, run by the shell in the folder of the target file. */
  readonly command: string;
  /** Target file, for messages and as the working directory. */
  readonly file: string;
  readonly runId: string;
  /** Timeout of one call, ms; default 60,000. */
  readonly timeoutMs?: number;
}

/** Exit code of a hook for an unknown state. */
const UNKNOWN_STATE = 3;

/**
 * The operator's provisioning hook. Gets `{"state": "...", "runId": "..."}` on stdin and prints `{"key": "..."}`. It exits with
 * 0 when it created the state, with 3 when the state is unknown; anything else is a failure. At the end of the run it gets
 * `{"release": true, "runId": "..."}` and exits with 0 when it deleted everything that it created for that run.
 */
export function hookProvisioner({ command, file, runId, timeoutMs = 60_000 }: HookOptions): Provisioner {
  let made = 0;
  return {
    attestation: "hook",
    async fresh(state, signal) {
      const outcome = await run(command, dirname(resolve(file)), JSON.stringify({ state, runId }), timeoutMs, signal);
      if (outcome.code === UNKNOWN_STATE) return undefined;
      const key = outcome.code === 0 ? keyIn(outcome.stdout) : undefined;
      if (key !== undefined) return new Key(`hook.${state}.${++made}`, key);
      throw new ConfigError([
        {
          file,
          path: "provision.command",
          message: `the hook did not make the state "${state}": ${outcome.why ?? `exit ${outcome.code}`}.`,
          hint: `It must print {"key": "…"} and end with 0, or end with ${UNKNOWN_STATE} for a state that it does not know. ${maskLikely(outcome.stderr.slice(-300))}`,
        },
      ]);
    },
    async release() {
      const never = new AbortController().signal;
      const { code } = await run(
        command,
        dirname(resolve(file)),
        JSON.stringify({ release: true, runId }),
        timeoutMs,
        never,
      );
      return code === 0;
    },
  };
}

/** The output is not quoted in messages: it holds a key, or something meant to be one. */
function keyIn(stdout: string): string | undefined {
  try {
    const output: unknown = JSON.parse(stdout);
    const key = isObject(output) ? output["key"] : undefined;
    return typeof key === "string" && key !== "" ? key : undefined;
  } catch {
    // Not JSON: the caller reports what was expected.
    return undefined;
  }
}

interface HookOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly why?: string;
}

/** Whether the system has process groups. */
const GROUPS = process.platform !== "win32";

function killAll(child: ChildProcess): void {
  if (!GROUPS || child.pid === undefined) {
    child.kill("SIGKILL");
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has just ended, and its group with it.
  }
}

async function run(
  command: string,
  cwd: string,
  input: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<HookOutcome> {
  // A separate process group: the shell's children must end with it, otherwise we would wait for their pipes.
  const child = spawn(command, { cwd, shell: true, detached: GROUPS, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let why: string | undefined;
  const stop = (reason: string) => {
    why = reason;
    killAll(child);
  };
  child.stdout.on("data", (bytes: Buffer) => {
    stdout += bytes.toString("utf8");
    if (stdout.length > 100_000) stop("it printed more than 100 kB");
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr = (stderr + bytes.toString("utf8")).slice(-2_000);
  });
  // A hook that does not read its input closes the pipe.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const deadline = setTimeout(() => stop(`it ran longer than ${timeoutMs / 1_000} s`), timeoutMs);
  using _listening = onAbort(signal, () => stop("the run was interrupted"));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code: why === undefined ? code : null, stdout, stderr, ...(why === undefined ? {} : { why }) };
  } catch (error) {
    return { code: null, stdout, stderr, why: messageOf(error) };
  } finally {
    clearTimeout(deadline);
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { formatNumber, messageOf, onAbort } from "../../core/index.ts";

/** How a command ended, and its output. */
export interface CommandOutcome {
  /** `null`: it was stopped, or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly why?: string;
}

export interface CommandSettings {
  /** Working directory. */
  readonly folder: string;
  readonly input: string;
  readonly timeoutMs: number;
  /** Most characters of output. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
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

/** Runs a command line in a shell. Never throws: a command that cannot be started is an outcome. */
export async function runCommand(
  command: string,
  { folder, input, timeoutMs, maxBytes, signal }: CommandSettings,
): Promise<CommandOutcome> {
  // A separate process group: the shell's children must end with it, otherwise we would wait for their pipes.
  const child = spawn(command, { cwd: folder, shell: true, detached: GROUPS, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  let why: string | undefined;
  const stop = (reason: string) => {
    why = reason;
    killAll(child);
  };
  // Characters may be split between two reads.
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.length > maxBytes) stop(`it printed more than ${formatNumber(maxBytes / 1_000)} kB`);
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr = (stderr + bytes.toString("utf8")).slice(-2_000);
  });
  // A command that does not read its input closes the pipe.
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

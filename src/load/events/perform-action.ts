import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileProblem, messageOf, onAbort, readSecret } from "../../core/index.ts";
import type { Action } from "../../target/index.ts";

/** Maximum length of the output that is kept. */
const MAX_OUTPUT_BYTES = 16_384;
/** Whether the system has process groups. */
const GROUPS = process.platform !== "win32";

/** How an action ended. Its failure is a result, never an exception. */
export interface Performed {
  readonly succeeded: boolean;
  /** `exit code 0`, `status 204`, `timed out after 60 s`. */
  readonly result: string;
  readonly exitCode: number | null;
  /** The beginning of its output. */
  readonly output: string;
  readonly outputBytes: number;
}

/** @param abort ends a command that is running. */
export async function performAction(action: Action, abort: AbortSignal): Promise<Performed> {
  switch (action.kind) {
    case "command":
      return runCommand(action, abort);
    case "signal":
      return sendSignal(action);
    case "http":
      return sendRequest(action, abort);
  }
}

const without = { exitCode: null, output: "", outputBytes: 0 };

/**
 * Runs a command until its shell has ended. Its output goes to a file, not to a pipe: a gateway that it starts in the background
 * keeps running, and would get an error when it writes to a pipe that nobody reads.
 */
async function runCommand(
  { command, folder, timeoutMs }: Extract<Action, { kind: "command" }>,
  abort: AbortSignal,
): Promise<Performed> {
  const place = mkdtempSync(join(tmpdir(), "gauntlet-event-"));
  const path = join(place, "output");
  const output = openSync(path, "w+");
  // The name is not needed: the file is gone when the last process has closed it.
  rmSync(place, { recursive: true, force: true });
  try {
    // A separate process group: a signal from the terminal must not end the command, and a timeout must end its children too.
    const child = spawn(command, { cwd: folder, shell: true, detached: GROUPS, stdio: ["ignore", output, output] });
    let why: string | undefined;
    const stop = (reason: string) => {
      why = reason;
      killAll(child);
    };
    const deadline = setTimeout(() => stop(`timed out after ${timeoutMs / 1_000} s`), timeoutMs);
    using _listening = onAbort(abort, () => stop("aborted because the load was interrupted"));
    if (abort.aborted) stop("aborted because the load was interrupted");
    try {
      const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
      const result = why ?? (code === null ? `killed by ${signal}` : `exit code ${code}`);
      return { succeeded: why === undefined && code === 0, result, exitCode: code, ...readOutput(output) };
    } finally {
      clearTimeout(deadline);
      // A gateway in the background must not keep this process from ending.
      child.unref();
    }
  } catch (error) {
    return { ...without, succeeded: false, result: `could not be started: ${messageOf(error)}` };
  } finally {
    closeSync(output);
  }
}

function readOutput(file: number): Pick<Performed, "output" | "outputBytes"> {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.min(size, MAX_OUTPUT_BYTES));
  readSync(file, bytes, 0, bytes.length, 0);
  return { output: bytes.toString("utf8").trimEnd(), outputBytes: size };
}

function killAll(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (GROUPS) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has just ended, and its group with it.
  }
}

function sendSignal({ signal, pid, pidFile }: Extract<Action, { kind: "signal" }>): Performed {
  const failed = (result: string) => ({ ...without, succeeded: false, result });
  let id = pid;
  if (pidFile !== undefined) {
    try {
      const text = readFileSync(pidFile, "utf8").trim();
      id = /^\d+$/.test(text) ? Number(text) : undefined;
    } catch (error) {
      return failed(`${pidFile} cannot be read: ${fileProblem(error)}`);
    }
  }
  // 0 and 1 are this process's group and the first process of the system.
  if (id === undefined || id < 2) return failed(`${pidFile} does not contain a process id`);
  if (id === process.pid) return failed(`process ${id} is Gauntlet itself`);
  try {
    process.kill(id, `SIG${signal}`);
    return { ...without, succeeded: true, result: `SIG${signal} was sent to process ${id}` };
  } catch (error) {
    return failed(`SIG${signal} could not be sent to process ${id}: ${messageOf(error)}`);
  }
}

async function sendRequest(
  { method, url, headers, token, body, timeoutMs }: Extract<Action, { kind: "http" }>,
  abort: AbortSignal,
): Promise<Performed> {
  const { value } = token === undefined ? {} : readSecret(token);
  const all = value === undefined ? headers : { ...headers, authorization: `Bearer ${value}` };
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([abort, deadline]);
  try {
    const response = await fetch(url, { method, headers: all, body: body ?? null, signal, redirect: "manual" });
    const read = await readBody(response);
    return { succeeded: response.ok, result: `status ${response.status}`, exitCode: null, ...read };
  } catch (error) {
    const result = deadline.aborted
      ? `timed out after ${timeoutMs / 1_000} s`
      : abort.aborted
        ? "aborted because the load was interrupted"
        : `failed: ${messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)}`;
    return { ...without, succeeded: false, result };
  }
}

/** Reads a body until the output is full. */
async function readBody(response: Response): Promise<Pick<Performed, "output" | "outputBytes">> {
  const pieces: Uint8Array[] = [];
  let outputBytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    outputBytes += piece.length;
    // Leaving the loop cancels the body.
    if (outputBytes > MAX_OUTPUT_BYTES) break;
  }
  const output = Buffer.concat(pieces).subarray(0, MAX_OUTPUT_BYTES).toString("utf8").trimEnd();
  return { output, outputBytes };
}

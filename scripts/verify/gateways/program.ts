import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds that a program gets to exit after the signal; Postgres and LiteLLM take one or two seconds. */
const GRACE_MS = 10_000;

export interface ProgramOptions {
  /** Name of its log. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** Folder for its log. */
  readonly logs: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The user to run it as, if not the current one. */
  readonly user?: User | undefined;
  /** Signal that stops it. Default: SIGTERM. */
  readonly endsBy?: NodeJS.Signals;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** A started program, or one of several. */
export interface Running extends AsyncDisposable {
  /** @returns how the program exited and the end of its log, if nobody stopped it; `undefined` while it runs. */
  ended(): string | undefined;
  /** Waits until all processes of several accept connections. @throws if one does not */
  untilAllAccept?(): Promise<void>;
}

export interface Program extends Running {
  readonly log: string;
  /**
   * Waits until the address responds with a status below 400. Otherwise ends it after `limitMs` at the latest. @throws in that
   * case
   */
  untilReady(url: string, limitMs: number, headers?: Readonly<Record<string, string>>): Promise<void>;
}

/**
 * Starts a program in its own process group, so that everything it started ends with it, also when this process is interrupted.
 */
export function startProgram({
  name,
  command,
  cwd,
  logs,
  env = {},
  user,
  endsBy = "SIGTERM",
}: ProgramOptions): Program {
  mkdirSync(logs, { recursive: true });
  const log = join(logs, `${name}.log`);
  const output = openSync(log, "w");
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", output, output],
    detached: true,
    ...user,
  });
  closeSync(output);
  const ended = once(child, "exit");
  const kill = () => signalGroup(child, "SIGKILL");
  process.once("exit", kill);
  const running = () => child.exitCode === null && child.signalCode === null;
  const end = async () => {
    if (running()) {
      signalGroup(child, endsBy);
      await Promise.race([ended, sleep(GRACE_MS, undefined, { ref: false })]);
    }
    kill();
    process.removeListener("exit", kill);
  };
  const lastWords = () =>
    `ended with ${child.exitCode ?? child.signalCode}:\n${readFileSync(log, "utf8").slice(-2_000)}`;
  return {
    log,
    ended: () => (running() ? undefined : `${name} ${lastWords()}`),
    async untilReady(url, limitMs, headers = {}) {
      const untilMs = Date.now() + limitMs;
      while (running() && Date.now() < untilMs) {
        const ok = await fetch(url, { headers }).then(
          (response) => response.ok,
          () => false,
        );
        if (ok) return;
        await sleep(200);
      }
      const why = running() ? `does not respond at ${url}, and ` : "";
      await end();
      throw new Error(`${name} ${why}${lastWords()}`);
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Signals a whole group; one that no longer exists needs no signal. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Runs a command until it exits. @throws unless the exit code is 0. */
export function run(
  command: readonly [string, ...string[]],
  options: Pick<ProgramOptions, "cwd" | "env" | "user"> & { readonly input?: string },
): string {
  const [program, ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: "utf8",
    maxBuffer: 64 * 1_024 * 1_024,
    ...(options.input === undefined ? {} : { input: options.input }),
    ...options.user,
  });
  if (status === 0) return stdout;
  throw new Error(`${command.slice(0, 4).join(" ")} ended with ${status} ${error?.message ?? ""}\n${stderr ?? ""}`);
}

/** @returns `preferred` if it is free, so that the output shows the ports of the examples; otherwise any other. */
export async function freePort(preferred: number): Promise<number> {
  for (const port of [preferred, 0]) {
    const server = createServer();
    const listening = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!listening) continue;
    const address = server.address();
    await new Promise((done) => server.close(done));
    if (typeof address === "object" && address !== null) return address.port;
  }
  throw new Error("no port is free");
}

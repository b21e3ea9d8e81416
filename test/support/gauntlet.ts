import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { recordProblems } from "./record-schema.ts";

export const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when the text has been printed on either stream. */
  printed(text: string | RegExp): Promise<string>;
}

/** Starts the built command line, as a user would. */
export function startGauntlet(
  args: readonly string[],
  environment: Record<string, string> = {},
  cwd = tmpdir(),
): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    // In CI a target must be named: tests for CI set it explicitly.
    env: { ...process.env, CI: "", GITHUB_ACTIONS: "", NO_COLOR: "1", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const took = () => {
    for (const watch of watchers) watch();
  };
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout += bytes.toString("utf8");
    took();
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr += bytes.toString("utf8");
    took();
  });
  const finished = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    finished,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const all = stdout + stderr;
          if (!(typeof text === "string" ? all.includes(text) : text.test(all))) return;
          watchers.delete(look);
          resolve(all);
        };
        watchers.add(look);
        void finished.then(() => reject(new Error(`it ended without printing ${text}:\n${stdout}\n${stderr}`)));
        look();
      }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await finished;
    },
  };
}

/** Runs the built command line to its end. A record that it wrote must match the published schema. */
export async function gauntlet(
  args: readonly string[],
  environment: Record<string, string> = {},
  cwd?: string,
): Promise<Finished> {
  await using running = startGauntlet(args, environment, cwd);
  const finished = await running.finished;
  const folder = args[args.indexOf("--out") + 1];
  if (args.includes("--out") && folder !== undefined) {
    const problems = recordProblems(resolve(cwd ?? tmpdir(), folder));
    if (problems.length > 0) throw new Error(problems.join("\n"));
  }
  return finished;
}

export interface Folder extends Disposable {
  readonly path: string;
}

/** A folder that is deleted after the test. */
export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "gauntlet-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Keeps keys out of what a crash leaves behind and nobody can mask: the environment in Node's diagnostic reports, and the
 * memory of the process in a core file (SEC-1). What this process starts inherits the latter.
 */
export function keepOutOfDumps(): void {
  const { report } = process;
  if ("excludeEnv" in report) report.excludeEnv = true;
  else forbidReports();
  if (mayLeaveCore()) forbidCore();
}

/** Before Node 22.13 the environment is in every one of them. */
function forbidReports(): void {
  const { report } = process;
  // What asks for one would end a process that does not listen.
  if (report.reportOnSignal) process.on(report.signal, () => {});
  Object.assign(report, { reportOnFatalError: false, reportOnSignal: false, reportOnUncaughtException: false });
}

/** Whether the system was told to keep the memory of processes that crash, which it seldom is. */
function mayLeaveCore(): boolean {
  try {
    return !/^Max core file size\s+0\s/m.test(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    // No Linux: nothing is known here.
    return false;
  }
}

/** Sets the soft limit only, so that a command that we start (`client -- COMMAND`) may raise it again. */
function forbidCore(): void {
  const child = spawn("prlimit", ["--core=0:", "--pid", String(process.pid)], { stdio: "ignore" });
  // A system without the tool: SECURITY.md says what holds then.
  child.on("error", () => {});
  child.unref();
}

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Keeps keys out of crash artefacts that cannot be masked: the environment in Node's diagnostic reports, and the process memory
 * in a core file (SEC-1). Child processes inherit the latter setting.
 */
export function keepOutOfDumps(): void {
  const { report } = process;
  if ("excludeEnv" in report) report.excludeEnv = true;
  else forbidReports();
  if (mayLeaveCore()) forbidCore();
}

/** Before Node 22.13 every report contains the environment. */
function forbidReports(): void {
  const { report } = process;
  // Without a listener the report signal would end the process.
  if (report.reportOnSignal) process.on(report.signal, () => {});
  Object.assign(report, { reportOnFatalError: false, reportOnSignal: false, reportOnUncaughtException: false });
}

/** Whether core files are enabled on this system, which is rare. */
function mayLeaveCore(): boolean {
  try {
    return !/^Max core file size\s+0\s/m.test(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    // Not Linux: unknown.
    return false;
  }
}

/** Sets the soft limit only, so that a command that we start (`client -- COMMAND`) may raise it again. */
function forbidCore(): void {
  const child = spawn("prlimit", ["--core=0:", "--pid", String(process.pid)], { stdio: "ignore" });
  // A system without the tool: SECURITY.md describes what applies then.
  child.on("error", () => {});
  child.unref();
}

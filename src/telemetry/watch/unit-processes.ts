import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { UsageError } from "../../core/index.ts";
import { cgroupRoot, cgroupUse, isCgroup, pidsOf } from "./cgroup.ts";
import type { WatchedProcesses } from "./process-tree.ts";

/** Timeout of `systemctl`, ms. */
const TIMEOUT_MS = 5_000;

/**
 * The processes of a systemd unit, of the system or of this user.
 *
 * @param name of the unit, or the path of a control group (version 2), as a folder or below the mount.
 * @throws UsageError when the unit does not exist or is not running.
 */
export async function unitProcesses(name: string): Promise<WatchedProcesses> {
  const unit = name.includes("/") ? { name, pid: 0, cgroup: name } : await activeUnit(name);
  const cgroup = folderOf(unit.cgroup);
  if (cgroup === undefined)
    throw new UsageError(`--watch-unit: ${unit.cgroup} is not a control group (version 2) of this machine`, {
      hint: "Its folder has cgroup.procs and cpu.stat. Without one, --watch-pid watches a process.",
    });
  const pid = unit.pid > 0 ? unit.pid : pidsOf(cgroup)[0];
  if (pid === undefined)
    throw new UsageError(`--watch-unit: no process runs in ${cgroup}`, { hint: "Start the service first." });
  return { pid, unit: { name: unit.name, cgroup }, read: () => cgroupUse(cgroup) };
}

/** A path as given, or below the mount of the control groups, as systemd reports it. */
function folderOf(path: string): string | undefined {
  const root = cgroupRoot();
  return [path, ...(root === undefined ? [] : [join(root, path)])].find(isCgroup);
}

interface Unit {
  readonly name: string;
  readonly pid: number;
  readonly cgroup: string;
}

interface Shown extends Unit {
  readonly isLoaded: boolean;
  /** `active`, `inactive`, `failed`, … */
  readonly state: string;
}

async function activeUnit(name: string): Promise<Unit> {
  if (!/^[\w@:.\\-]+$/.test(name))
    throw new UsageError(`--watch-unit takes the name of a unit, or the path of a control group, not "${name}"`);
  const system = await show(name, []);
  const found = system.isLoaded && system.cgroup !== "" ? system : await ofUser(name);
  if (found !== undefined && found.cgroup !== "") return found;
  const known = system.isLoaded ? system : found;
  if (known === undefined)
    throw new UsageError(`--watch-unit: no unit ${name}, neither of the system nor of this user`, {
      hint: "`systemctl list-units` and `systemctl --user list-units` list the existing ones.",
    });
  throw new UsageError(`--watch-unit: unit ${known.name} is ${known.state} and has no running process`, {
    hint: `Start it first: systemctl ${known === system ? "" : "--user "}start ${known.name}`,
  });
}

/** Of this user; most machines without a session have no user manager. */
async function ofUser(name: string): Promise<Shown | undefined> {
  const user = await show(name, ["--user"]).catch(() => undefined);
  return user?.isLoaded ? user : undefined;
}

async function show(name: string, manager: readonly string[]): Promise<Shown> {
  const option = "--property=Id,LoadState,ActiveState,MainPID,ControlGroup";
  const text = await systemctl([...manager, "show", option, "--", name]);
  const properties = new Map(
    text.split("\n").map((line): [string, string] => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const of = (property: string) => properties.get(property) ?? "";
  return {
    name: of("Id") || name,
    pid: Number(of("MainPID")) || 0,
    cgroup: of("ControlGroup"),
    isLoaded: of("LoadState") !== "not-found" && of("LoadState") !== "",
    state: of("ActiveState") || "inactive",
  };
}

async function systemctl(args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("systemctl", args, { encoding: "utf8", timeout: TIMEOUT_MS });
    return stdout;
  } catch (error) {
    throw new UsageError(`--watch-unit: ${whyNot(error)}`, {
      hint: "Give the folder of the unit's control group instead, such as --watch-unit /sys/fs/cgroup/system.slice/NAME.service.",
      cause: error,
    });
  }
}

function whyNot(error: unknown): string {
  const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
  if (code === "ENOENT") return "systemctl, which could find the unit, is not in PATH";
  if (killed === true) return `systemctl did not respond within ${TIMEOUT_MS / 1_000} s`;
  const [line = ""] = (stderr ?? "").split("\n").filter((one) => one.trim() !== "");
  return `systemctl cannot find the control group of the unit: ${line.trim() || `exit code ${String(code)}`}`;
}

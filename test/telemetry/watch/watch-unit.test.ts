// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, openSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupRoot, cgroupUse } from "../../../src/telemetry/watch/cgroup.ts";
import { type Folder, gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";

const MIB = 2 ** 20;
const REPLY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';
const LINUX = process.platform === "linux";

async function gateway() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(REPLY);
  });
  return listening(server, () => server.closeAllConnections());
}

/** A process that does some work, so that it uses CPU time. */
function worker() {
  const busy = "setInterval(() => { const end = Date.now() + 20; while (Date.now() < end); }, 100)";
  const child = spawn(process.execPath, ["-e", busy], { stdio: "ignore" });
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** A folder with the files of a control group that contains this process. */
function imitated(files: Readonly<Record<string, string>>): Folder & { set(name: string, text: string): void } {
  const folder = temporaryFolder();
  const set = (name: string, text: string) => {
    // Atomically: a reader never sees half of it.
    writeFileSync(join(folder.path, `.${name}`), text);
    renameSync(join(folder.path, `.${name}`), join(folder.path, name));
  };
  const all = { "cgroup.procs": `${process.pid}\n`, "cpu.stat": "usage_usec 2500000\nuser_usec 1\n", ...files };
  for (const [name, text] of Object.entries(all)) set(name, text);
  return { ...folder, set };
}

/** A separate group for a test, if this machine allows it. */
function madeGroup(): (Disposable & { readonly path: string; readonly below: string }) | undefined {
  const root = cgroupRoot();
  const below = `/gauntlet-test-${process.pid}`;
  if (root === undefined) return undefined;
  try {
    mkdirSync(join(root, below));
    return { path: join(root, below), below, [Symbol.dispose]: () => rmdirSync(join(root, below)) };
  } catch {
    // Not root, or a read-only mount.
    return undefined;
  }
}

/** Creates a group to find out whether that is possible here. */
function canMakeGroups(): boolean {
  using group = madeGroup();
  return group !== undefined;
}

/** Runs a short load. @param systemctl a shell script that replaces it in PATH; without one there is none. */
async function loaded(options: readonly string[], systemctl?: string, seconds = 1) {
  await using server = await gateway();
  using folder = temporaryFolder();
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  if (systemctl !== undefined) {
    writeFileSync(join(bin, "systemctl"), `#!/bin/sh\n${systemctl}\n`);
    chmodSync(join(bin, "systemctl"), 0o755);
  }
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: "env:KEY" }\nmodels: { chat: m }\n`,
  );
  writeFileSync(
    join(folder.path, "w.yaml"),
    `name: w\narrivals: { kind: constant, ratePerS: 20, durationS: ${seconds} }\nmix: [{ dialect: chat }]\n`,
  );
  const args = ["load", "w.yaml", "--target", "t.yaml", "--json", "--out", "run", ...options];
  const done = await gauntlet(args, { KEY: "sk-a-key-that-is-not-real", PATH: bin }, folder.path);
  return { ...done, document: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
}

describe("a control group is read by its own files", () => {
  test("CPU time, memory without reclaimable pages, tasks; open files of all its processes", async () => {
    await using child = worker();
    using group = imitated({
      "memory.current": `${300 * MIB}\n`,
      "memory.stat": `anon 1\ninactive_file ${100 * MIB}\nactive_file 5\n`,
      "pids.current": "17\n",
    });
    const before = cgroupUse(group.path);
    expect(before).toMatchObject({ cpuS: 2.5, memoryBytes: 200 * MIB, threads: 17 });
    mkdirSync(join(group.path, "below"));
    writeFileSync(join(group.path, "below", "cgroup.procs"), `${child.pid}\n`);
    for (let more = 0; more < 5; more++) openSync("/dev/null", "r");
    const after = cgroupUse(group.path)?.openFiles ?? 0;
    // Five of this process, and at least the standard streams of the other one.
    expect(after - (before?.openFiles ?? 0)).toBeGreaterThanOrEqual(8);
  });

  test("without the files of a controller its processes are added up; without processes it has ended", () => {
    using group = imitated({});
    const use = cgroupUse(group.path);
    expect(use?.cpuS).toBe(2.5);
    expect(use?.memoryBytes).toBeGreaterThan(10 * MIB);
    expect(use?.threads).toBeGreaterThan(1);
    group.set("cgroup.procs", "");
    expect(cgroupUse(group.path)).toBeUndefined();
  });
});

test.skipIf(!LINUX)("a group whose memory grows under load shows growth of memory only", async () => {
  using group = imitated({ "pids.current": "9\n", "memory.current": `${100 * MIB}\n` });
  const beganMs = Date.now();
  const growing = setInterval(() => {
    const mib = 100 + (Date.now() - beganMs) / 50;
    group.set("memory.current", `${Math.round(mib * MIB)}\n`);
    group.set("cpu.stat", `usage_usec ${2_500_000 + (Date.now() - beganMs) * 1_500}\n`);
  }, 50);
  const { document, stderr } = await loaded(["--watch-unit", group.path, "--watch-interval-s", "0.2"], undefined, 6);
  clearInterval(growing);
  const { processes } = document?.watched ?? {};
  expect(processes?.unit, stderr).toEqual({ name: group.path, cgroup: group.path });
  expect(processes.pid).toBe(process.pid);
  const leaks = Object.fromEntries(processes.leaks.map((leak: { resource: string }) => [leak.resource, leak]));
  expect(leaks["memory"]).toMatchObject({ verdict: "growth", unit: "bytes" });
  expect(leaks["threads"]).toMatchObject({ verdict: "idle", first: 9, peak: 9, last: 9 });
  // 20 MiB a second are 1,200 a minute.
  expect(leaks["memory"].perMinute.low / MIB).toBeGreaterThan(600);
  expect(leaks["memory"].perMinute.high / MIB).toBeLessThan(2_400);
  const shares = processes.samples.map(({ cpuShare }: { cpuShare: number | null }) => cpuShare ?? 0);
  const mean = shares.reduce((sum: number, share: number) => sum + share, 0) / shares.length;
  expect(mean).toBeGreaterThan(1);
  expect(mean).toBeLessThan(2);
});

/** What systemctl reports about a unit. */
const says = (lines: Readonly<Record<string, string | number>>) =>
  Object.entries(lines)
    .map(([name, value]) => `echo '${name}=${value}'`)
    .join("\n");
const RUNS = { Id: "gw.service", LoadState: "loaded", ActiveState: "active" };
const UNKNOWN = { Id: "gw.service", LoadState: "not-found", ActiveState: "inactive", MainPID: 0, ControlGroup: "" };

describe.skipIf(!LINUX || !canMakeGroups())("units, in a control group of the kernel", () => {
  test.each([
    ["of the system", (group: string, pid: number) => says({ ...RUNS, MainPID: pid, ControlGroup: group })],
    [
      "of this user",
      (group: string, pid: number) =>
        `if [ "$1" = --user ]; then\n${says({ ...RUNS, MainPID: pid, ControlGroup: group })}\nelse\n${says(UNKNOWN)}\nfi`,
    ],
    ["without a main process", (group: string) => says({ ...RUNS, MainPID: 0, ControlGroup: group })],
  ])("%s", async (_what, script) => {
    using group = madeGroup();
    if (group === undefined) throw new Error("no control group could be made");
    {
      await using child = worker();
      writeFileSync(join(group.path, "cgroup.procs"), String(child.pid));
      const { document, stderr } = await loaded(["--watch-unit", "gw"], script(group.below, child.pid));
      const { processes } = document?.watched ?? {};
      expect(processes?.unit, stderr).toEqual({ name: "gw.service", cgroup: group.path });
      expect(processes.pid).toBe(child.pid);
      expect(processes.samples.length).toBeGreaterThanOrEqual(2);
      for (const { memoryBytes, openFiles, threads } of processes.samples) {
        expect(memoryBytes).toBeGreaterThan(10 * MIB);
        expect(openFiles).toBeGreaterThan(2);
        expect(threads).toBeGreaterThan(1);
      }
      // According to the kernel's cpu.stat it is busy a fifth of the time.
      const share = processes.samples.at(-1).cpuShare;
      expect(share).toBeGreaterThan(0.02);
      expect(share).toBeLessThan(1);
    }
  });
});

describe("refused before anything is sent", () => {
  const unit = ["--watch-unit", "gw"];
  test.each<[what: string, options: string[], systemctl: string | undefined, message: RegExp]>([
    [
      "no systemctl",
      unit,
      undefined,
      /systemctl, which could find the unit, is not in PATH[\s\S]*--watch-unit \/sys\/fs\/cgroup/,
    ],
    ["no such unit", unit, says(UNKNOWN), /no unit gw, neither of the system nor of this user/],
    [
      "a unit that does not run",
      unit,
      says({ ...UNKNOWN, LoadState: "loaded", ActiveState: "failed" }),
      /unit gw\.service is failed and has no running process[\s\S]*systemctl start gw\.service/,
    ],
    [
      "a unit of this user that does not run",
      unit,
      `if [ "$1" = --user ]; then\n${says({ ...UNKNOWN, LoadState: "loaded" })}\nelse\n${says(UNKNOWN)}\nfi`,
      /unit gw\.service is inactive and has no running process[\s\S]*systemctl --user start gw\.service/,
    ],
    [
      "a machine that systemd does not run",
      unit,
      "echo 'System has not been booted with systemd as init system (PID 1).' >&2; exit 1",
      /systemctl cannot find the control group of the unit: System has not been booted with systemd/,
    ],
    [
      "a group that is not there",
      unit,
      says({ ...RUNS, MainPID: 1, ControlGroup: "/there/is/none" }),
      /\/there\/is\/none is not a control group \(version 2\)/,
    ],
    ["a folder that does not exist", ["--watch-unit", "/tmp/"], undefined, /\/tmp\/ is not a control group/],
    ["an invalid name", ["--watch-unit", "a b"], undefined, /takes the name of a unit, or the path/],
    ["both", [...unit, "--watch-pid", "1"], undefined, /--watch-pid and --watch-unit cannot be combined/],
    [
      "nothing to watch",
      ["--watch-interval-s", "1"],
      undefined,
      /--watch-interval-s has no effect if nothing is watched/,
    ],
    [
      "an interval that is too short",
      [...unit, "--watch-interval-s", "0.1"],
      undefined,
      /--watch-interval-s takes a number from 0\.2 to 60/,
    ],
  ])("%s", async (_what, options, systemctl, message) => {
    const { code, stderr } = await loaded(options, systemctl);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/at most [\d,]+ requests/);
    expect(code).toBe(2);
  });

  test("a name never reaches systemctl as an option", async () => {
    using folder = temporaryFolder();
    const seen = join(folder.path, "seen");
    const { stderr } = await loaded(["--watch-unit=--help"], `echo "$@" > '${seen}'\n${says(UNKNOWN)}`);
    expect(stderr).toContain("no unit --help");
    expect(readFileSync(seen, "utf8")).toMatch(/ -- --help\n$/);
  });
});

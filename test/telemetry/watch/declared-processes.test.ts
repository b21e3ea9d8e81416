// real-time: samples processes while they use CPU time.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/core/index.ts";
import { declaredProcesses } from "../../../src/telemetry/watch/declared-processes.ts";
import { LogSamples } from "../../../src/telemetry/watch/log-samples.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";

/** A process that uses a processor for some time after each line that it reads. */
async function worker(): Promise<ChildProcess> {
  const code = `process.stdin.on("data", () => { const end = Date.now() + 300; while (Date.now() < end); console.log("done"); }); console.log("up");`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  return child;
}

async function work({ stdin, stdout }: ChildProcess): Promise<void> {
  stdin?.write("x\n");
  if (stdout !== null) await once(stdout, "data");
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

describe("declared processes", () => {
  test("CPU time is summed over all of them, and a replaced one does not continue the old one's", async () => {
    using folder = temporaryFolder();
    const [source, a, b] = ["target.yaml", "a.pid", "b.pid"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    const [first, second] = [await worker(), await worker()];
    writeFileSync(a, `${first.pid}\n`);
    writeFileSync(b, `${second.pid}`);
    let third: ChildProcess | undefined;
    try {
      const { processes } = declaredProcesses({ source, pidFiles: [a, b], logs: [] });
      const before = processes?.read();
      await Promise.all([work(first), work(second)]);
      const after = processes?.read();
      expect(processes?.pid).toBe(first.pid);
      expect((after?.cpuS ?? 0) - (before?.cpuS ?? 0)).toBeGreaterThan(0.1);
      expect(after?.generation).toBe(before?.generation);
      await end(first);
      const missing = processes?.read();
      expect(missing?.generation).not.toBe(after?.generation);
      third = await worker();
      writeFileSync(a, `${third.pid}`);
      const replaced = processes?.read();
      expect(replaced?.generation).not.toBe(missing?.generation);
      expect(replaced?.cpuS).toBeGreaterThanOrEqual(after?.cpuS ?? 0);
      await work(third);
      expect(processes?.read()?.generation).toBe(replaced?.generation);
    } finally {
      await Promise.all([first, second, ...(third === undefined ? [] : [third])].map(end));
    }
  }, 60_000);

  test("all that cannot be used is named with its place in the target file", async () => {
    using folder = temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    writeFileSync(at("text.pid"), "gateway");
    writeFileSync(at("system.pid"), "1");
    const ended = await worker();
    writeFileSync(at("ended.pid"), `${ended.pid}`);
    await end(ended);
    mkdirSync(at("folder.log"));
    const names = ["missing.pid", "text.pid", "system.pid", "ended.pid"];
    const open = () =>
      declaredProcesses({
        source: at("target.yaml"),
        pidFiles: names.map(at),
        logs: [at("missing.log"), at("folder.log")],
      });
    let problems: readonly unknown[] = [];
    try {
      open();
    } catch (error) {
      problems = error instanceof ConfigError ? error.problems : [];
    }
    const file = at("target.yaml");
    expect(problems).toMatchObject([
      { file, path: "processes.pidFiles.0", message: expect.stringMatching(/missing\.pid cannot be read: .*\.$/) },
      { file, path: "processes.pidFiles.1", message: expect.stringContaining("does not contain a process id") },
      { file, path: "processes.pidFiles.2", message: expect.stringContaining("does not contain a process id") },
      { file, path: "processes.pidFiles.3", message: expect.stringMatching(/no process \d+ is running/) },
      { file, path: "processes.logs.0", message: expect.stringMatching(/missing\.log cannot be read: .*\.$/) },
      { file, path: "processes.logs.1", message: expect.stringContaining("is not a file") },
    ]);
  });

  test("bytes that are written count; a log that is truncated or replaced does not count as negative", async () => {
    using folder = temporaryFolder();
    const [one, two] = ["one.log", "two.log"].map((name) => join(folder.path, name)) as [string, string];
    writeFileSync(one, "before\n");
    writeFileSync(two, "");
    const startMs = Date.now();
    using logs = new LogSamples({ names: ["one.log", "two.log"], files: [one, two] }, 10);
    const sampled = async (isEnough: (bytes: readonly (number | null)[]) => boolean) => {
      let bytes: (number | null)[] = [];
      await expect
        .poll(() => {
          bytes = logs.section(startMs).samples.map((sample) => sample.bytes);
          return isEnough(bytes);
        })
        .toBe(true);
      return bytes;
    };
    const sum = (bytes: readonly (number | null)[]) => bytes.reduce<number>((total, some) => total + (some ?? 0), 0);
    appendFileSync(one, "x".repeat(1_000));
    appendFileSync(two, "y".repeat(500));
    const written = await sampled((bytes) => sum(bytes) === 1_500);
    expect(written.slice(1)).not.toContain(null);
    truncateSync(one, 0);
    const nulls = (bytes: readonly (number | null)[]) => bytes.filter((some) => some === null).length;
    const truncated = await sampled((bytes) => nulls(bytes) > nulls(written));
    rmSync(two);
    writeFileSync(two, "z".repeat(2_000));
    const replaced = await sampled((bytes) => nulls(bytes) > nulls(truncated));
    expect(sum(replaced)).toBe(1_500);
    expect(Math.min(...replaced.map((some) => some ?? 0))).toBe(0);
  });
});

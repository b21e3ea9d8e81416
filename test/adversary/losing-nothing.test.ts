// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gauntlet, MAIN, type Running, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { recordProblems } from "../support/record-schema.ts";
import { unzipped } from "../support/run-files.ts";
import { killAfter, lookAt } from "./kills.ts";

let gateway: Running;
let environment: Record<string, string>;
let target: string;
beforeAll(async () => {
  gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  environment = { K: ready.keys.valid };
  target = `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\nlimits: { rpm: 6000, inFlight: 256 }\n`;
});
afterAll(() => gateway[Symbol.asyncDispose]());

const LOAD = "name: small\narrivals: { kind: constant, ratePerS: 20, durationS: 60 }\n";
const CONFORM = ["conform", "models", "chat", "streaming", "--target", "gauntlet.yaml"];

function workplace() {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, "gauntlet.yaml"), target);
  writeFileSync(join(folder.path, "small.yaml"), LOAD);
  return folder;
}

describe("a kill loses nothing that was known", () => {
  test.concurrent.each([150, 400, 700, 1_000, 1_400, 1_900])("conform, killed after %d ms", async (afterMs) => {
    using folder = workplace();
    expect((await killAfter(CONFORM, environment, folder.path, afterMs)).complaints).toEqual([]);
  });

  test("a load that is killed: what was sent until then is in the report", async () => {
    using folder = workplace();
    const out = join(folder.path, "run");
    await using running = startGauntlet(
      ["load", "small.yaml", "--target", "gauntlet.yaml", "--out", out],
      environment,
      folder.path,
    );
    const journal = join(out, "journal.ndjson.gz");
    await expect
      .poll(() => unzipped(journal).split("load-progress").length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(3);
    running.child.kill("SIGKILL");
    await running.finished;
    expect(lookAt(out, Date.now())).toMatchObject({ phase: "under way", complaints: [] });
    const { code, stdout, stderr } = await gauntlet(["report", out, "--print", "json"]);
    expect({ code, partial: stderr }).toEqual({ code: 0, partial: expect.stringContaining("the report is partial") });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ verdict: "inconclusive", exitCode: 4 });
    expect(document.headline).toMatch(/^INCONCLUSIVE: .*, cut off$/);
    expect(document.reasons[0].text).toMatch(/was cut off at .*small had sent \d\d+ requests in 1 phase/);
    expect((await gauntlet(["report", out])).code).toBe(0);
    expect(readdirSync(out)).toEqual(expect.arrayContaining(["report.html", "junit.xml", "ctrf.json", "summary.md"]));
  });

  test("a failure that was found before the kill stays a failure", async () => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    await using running = startGauntlet(
      ["conform", "auth", "robustness", "streaming", "--mutation", "auth.messages-with-any-key", "--out", out],
      {},
      folder.path,
    );
    const journal = join(out, "journal.ndjson.gz");
    await expect.poll(() => unzipped(journal).includes('"status":"fail"'), { timeout: 30_000 }).toBe(true);
    running.child.kill("SIGKILL");
    await running.finished;
    const { stdout } = await gauntlet(["report", out, "--print", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "fail", exitCode: 1 });
    // Judged again from the recording, with the same result.
    expect((await gauntlet(["rejudge", out])).code).toBe(1);
  });

  test("the embedded gateway does not outlive a run that was killed", async () => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    await using running = startGauntlet(
      ["conform", "--target", "embedded", "models", "streaming", "--out", out],
      {},
      folder.path,
    );
    const journal = join(out, "journal.ndjson.gz");
    await expect.poll(() => unzipped(journal).includes("started"), { timeout: 30_000 }).toBe(true);
    const { run } = JSON.parse(unzipped(journal).split("\n")[0] ?? "");
    running.child.kill("SIGKILL");
    await running.finished;
    const responds = () =>
      fetch(`${run.target.baseUrl}/models`).then(
        () => true,
        () => false,
      );
    await expect.poll(responds, { timeout: 30_000 }).toBe(false);
  });
});

describe("locations that cannot be written", () => {
  test("2: the folder cannot be made", async () => {
    using folder = workplace();
    writeFileSync(join(folder.path, "file"), "");
    const { code, stderr } = await gauntlet([...CONFORM, "--out", "file/run"], environment, folder.path);
    expect(stderr).toMatch(/the run folder file\/run cannot be written: .*\n {2}Name another folder with --out/);
    expect(code).toBe(2);
  });

  test.skipIf(process.platform === "win32")(
    "4: the disk is full in the middle; what was found is printed, the journal is whole",
    async () => {
      using folder = workplace();
      const out = join(folder.path, "run");
      // The kernel prevents any file from growing beyond 16 KiB: a full disk, for one process.
      const command = ['ulimit -f 32; exec "$0" "$@"', process.execPath, MAIN, ...CONFORM, "--out", out];
      const child = spawn("sh", ["-c", ...command], {
        cwd: folder.path,
        env: { ...process.env, ...environment, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (bytes) => (stdout += bytes));
      child.stderr.on("data", (bytes) => (stderr += bytes));
      const [code] = await once(child, "close");
      expect(stderr).toMatch(/can no longer be written: EFBIG.*\n {2}Earlier results are kept/);
      expect(stdout).toMatch(/INCONCLUSIVE: .*, cut off/);
      expect(code).toBe(4);
      expect(existsSync(join(out, "run.json.part"))).toBe(false);
      expect(lookAt(out, Date.now()).complaints).toEqual([]);
      expect((await gauntlet(["report", out, "--print", "markdown"])).stdout).toContain("cut off");
    },
  );

  test.skipIf(!existsSync("/dev/full"))(
    "4: the output goes to a full disk, and the run says so and keeps its record",
    async () => {
      using folder = workplace();
      const out = join(folder.path, "run");
      const full = openSync("/dev/full", "w");
      const child = spawn(
        process.execPath,
        [MAIN, "conform", "models", "--target", "gauntlet.yaml", "--json", "--out", out],
        {
          cwd: folder.path,
          env: { ...process.env, ...environment },
          stdio: ["ignore", full, "pipe"],
        },
      );
      let stderr = "";
      child.stderr?.on("data", (bytes) => (stderr += bytes));
      const [code] = await once(child, "close");
      expect(stderr).toMatch(/the output cannot be written: ENOSPC/);
      expect(code).toBe(4);
      expect(recordProblems(out)).toEqual([]);
    },
  );
});

test.each([-3_600_000, 86_400_000])(
  "a clock that jumps by %d ms neither delays a run nor corrupts its record",
  async (jumpMs) => {
    using folder = workplace();
    const out = join(folder.path, "run");
    const jump = join(folder.path, "jump.mjs");
    // The wall clock of the process jumps once requests are in flight.
    writeFileSync(
      jump,
      `const now = Date.now; let calls = 0;\nDate.now = () => now() + (++calls > 60 ? ${jumpMs} : 0);\n`,
    );
    const { code } = await gauntlet(
      ["conform", "models", "chat", "--target", "gauntlet.yaml", "--out", out],
      { ...environment, NODE_OPTIONS: `--import=${pathToFileURL(jump).href}` },
      folder.path,
    );
    expect([0, 1, 4]).toContain(code);
    const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    expect(record.durationMs).toBeGreaterThan(0);
    expect(record.durationMs).toBeLessThan(600_000);
    expect(record.counts.pass).toBeGreaterThan(30);
  },
);

describe("signals during load", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s: a partial record, exit code %d", async (signal, exitCode) => {
    using folder = workplace();
    const out = join(folder.path, "run");
    await using running = startGauntlet(
      ["load", "small.yaml", "--target", "gauntlet.yaml", "--out", out],
      environment,
      folder.path,
    );
    await expect
      .poll(() => unzipped(join(out, "journal.ndjson.gz")).includes("load-progress"), { timeout: 30_000 })
      .toBe(true);
    running.child.kill(signal);
    const { code, stdout } = await running.finished;
    expect(stdout).toContain(`interrupted by ${signal}`);
    expect(code).toBe(exitCode);
    expect(recordProblems(out)).toEqual([]);
    const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    expect(record).toMatchObject({ complete: false, verdict: { result: "inconclusive", exitCode } });
    expect(record.verdict.headline).toMatch(/^INCONCLUSIVE/);
  });
});

describe("runs at the same time", () => {
  test("in one place they stay separate", async () => {
    using folder = workplace();
    const ran = await Promise.all(
      [1, 2, 3].map(() => gauntlet(["conform", "models", "--target", "gauntlet.yaml"], environment, folder.path)),
    );
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0]);
    const folders = readdirSync(join(folder.path, "gauntlet-runs")).map((name) =>
      join(folder.path, "gauntlet-runs", name),
    );
    expect(folders).toHaveLength(3);
    expect(folders.flatMap(recordProblems)).toEqual([]);
  });

  test("of two with the same folder, one is rejected and the other is not affected", async () => {
    using folder = workplace();
    mkdirSync(join(folder.path, "run"));
    const start = () =>
      startGauntlet(["conform", "models", "--target", "gauntlet.yaml", "--out", "run"], environment, folder.path);
    await using first = start();
    await using second = start();
    const ran = await Promise.all([first.finished, second.finished]);
    expect(ran.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect(ran.find(({ code }) => code === 2)?.stderr).toContain("run already holds a run");
    expect(recordProblems(join(folder.path, "run"))).toEqual([]);
  });
});

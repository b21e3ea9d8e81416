// real-time: sends load, and judges how much of it was served in time
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readOutput } from "../../src/engines/index.ts";
import type { JudgedRun } from "../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { judgedRuns } from "../support/judged-runs.ts";
import { K6, WITHOUT } from "./support/k6.ts";
import { type LoggedGateway, loggedGateway } from "./support/log-of.ts";

const CANARY = "gk-canary-0123456789-abcdefghijkl";

/** A gateway with known keys, and a folder with a target file and a workload. */
async function bench(args: readonly string[], workload: string) {
  const folder = temporaryFolder();
  const keys = join(folder.path, "keys.json");
  writeFileSync(keys, JSON.stringify({ valid: CANARY }));
  const gateway = await loggedGateway([...args, "--keys", keys]);
  const target = join(folder.path, "gauntlet.yaml");
  writeFileSync(
    target,
    `name: k6 bench
baseUrl: ${gateway.ready.baseUrl}
keys: { valid: env:BENCH_KEY }
models: { chat: echo-fast, stream: echo-stream }
`,
  );
  const file = join(folder.path, "bench.yaml");
  writeFileSync(file, workload);
  return {
    folder: folder.path,
    gateway,
    target,
    file,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const plain = (ratePerS: number, durationS: number, more = "") => `name: bench
arrivals: { kind: constant, ratePerS: ${ratePerS}, durationS: ${durationS} }
mix: [{ dialect: chat }, { dialect: messages }]
${more}`;
const ENVIRONMENT = { BENCH_KEY: CANARY };

const runOf = (folder: string): JudgedRun => judgedRuns(folder)[0] as JudgedRun;
const sumOf = (run: JudgedRun, field: "sent" | "admitted" | "denied" | "failed") =>
  run.phases.reduce((sum, phase) => sum + phase[field], 0);

/** Totals and Retry-After values of a run equal those of the gateway's own log. */
async function expectAgreement(run: JudgedRun, outputs: readonly string[], gateway: LoggedGateway) {
  const log = await gateway.log();
  const refused = Object.values(log.refused).reduce((sum, count) => sum + count, 0);
  expect([sumOf(run, "sent"), sumOf(run, "admitted"), sumOf(run, "denied"), sumOf(run, "failed")]).toEqual([
    log.total,
    log.admitted,
    refused,
    0,
  ]);
  const reported = (await Promise.all(outputs.map(readOutput))).flatMap(({ requests }) =>
    requests.flatMap((one) => one.retryAfter ?? []),
  );
  const given = log.arrivals.flatMap((one) => one.retryAfter ?? []);
  expect(reported.sort()).toEqual(given.sort());
  return log;
}

/** A busy machine makes the generator late, which is inconclusive; the counts must be correct all the same. */
function expectJudged({ verdict, generator }: JudgedRun, code: number | null, stdout: string) {
  expect([verdict, code], stdout).toEqual(generator.valid ? ["pass", 0] : ["inconclusive", 4]);
}

const outputsIn = (folder: string) =>
  readdirSync(join(folder, "k6", "bench"))
    .filter((name) => name.startsWith("k6-"))
    .map((name) => join(folder, "k6", "bench", name));

describe.skipIf(K6 === undefined)(`the real k6${WITHOUT}`, () => {
  test.each([[1], [3]])(
    "%d instances offer one schedule exactly, by their samples and by the gateway's log",
    async (count) => {
      await using b = await bench([], plain(25, 4));
      const out = join(b.folder, "run");
      const args = ["load", b.file, "--engine", "k6", "--instances", `${count}`, "--target", b.target, "--out", out];
      const { code, stdout } = await gauntlet(args, ENVIRONMENT);
      expect(code, stdout).toBe(0);
      const run = runOf(out);
      expect(run).toMatchObject({ engine: "k6", verdict: "pass", generator: { loopDelayMs: null } });
      const log = await expectAgreement(run, outputsIn(out), b.gateway);
      expect(log.total).toBe(100);
      const outputs = await Promise.all(outputsIn(out).map(readOutput));
      const indices = outputs.flatMap(({ requests }) => requests.map(({ index }) => index)).sort((x, y) => x - y);
      expect(indices).toEqual(Array.from({ length: 100 }, (_, index) => index));
      // Deterministic, because it is the schedule: what is due in each second, whichever instance sends it.
      const due = [0, 0, 0, 0];
      for (const { requests } of outputs)
        for (const { index } of requests) due[Math.floor(index / 25)] = (due[Math.floor(index / 25)] ?? 0) + 1;
      expect(due).toEqual([25, 25, 25, 25]);
      expect(run.instances?.map(({ segment, complete }) => [segment, complete])).toEqual(
        count === 1
          ? [["0:1", true]]
          : [
              ["0:1/3", true],
              ["1/3:2/3", true],
              ["2/3:1", true],
            ],
      );
      // Gaps between tokens and first tokens cannot be observed, and are not invented.
      for (const phase of run.phases)
        for (const one of phase.classes)
          expect([one.eventGapMs, one.ttftMs, one.firstEventMs]).toEqual([null, null, null]);
      expect(run.phases[0]?.classes.every(({ headersMs }) => headersMs !== null)).toBe(true);
    },
  );

  test("three instances together meet a limit without denials, and one more request is one denial", async () => {
    for (const [ratePerS, denied] of [
      [20, 0],
      [20.5, 1],
    ] as const) {
      await using b = await bench(["--limits", "40:64"], plain(ratePerS, 2, "allow: { deniedShare: 1 }"));
      const out = join(b.folder, "run");
      const args = ["load", b.file, "--engine", "k6", "--instances", "3", "--target", b.target, "--out", out];
      const { stdout } = await gauntlet(args, ENVIRONMENT);
      const run = runOf(out);
      expect(sumOf(run, "denied"), stdout).toBe(denied);
      await expectAgreement(run, outputsIn(out), b.gateway);
    }
  });

  test("denied clients comply with Retry-After, and every figure is as in the gateway's log", async () => {
    const limits = ["--limits", "600:64", "--limiter", "token-bucket", "--burst", "4"];
    const workload = `name: bench
arrivals: { kind: burst, size: 12, everyS: 1, durationS: 1 }
retryAfter: compliant
allow: { deniedShare: 1 }
`;
    await using b = await bench(limits, workload);
    const out = join(b.folder, "run");
    const args = ["load", b.file, "--engine", "k6", "--instances", "2", "--target", b.target, "--out", out];
    const { code, stdout } = await gauntlet(args, ENVIRONMENT);
    const run = runOf(out);
    expectJudged(run, code, stdout);
    const log = await expectAgreement(run, outputsIn(out), b.gateway);
    expect(log.admitted).toBe(12);
    expect(run.retryAfter?.client).toMatchObject({ earlySends: 0, forbiddenRetries: 0, aborted: 0 });
    expect(run.retryAfter?.client.retries).toBe(log.refused["rate_limit_exceeded"]);
    expect(run.retryAfter?.groups.reduce((sum, { denials }) => sum + denials, 0)).toBe(
      log.refused["rate_limit_exceeded"],
    );
  });

  test("a killed instance does not affect the others and is named; the verdict is inconclusive", async () => {
    await using b = await bench([], plain(20, 6));
    const out = join(b.folder, "run");
    const args = ["load", b.file, "--engine", "k6", "--instances", "3", "--target", b.target, "--out", out];
    await using running = startGauntlet(args, ENVIRONMENT);
    await b.gateway.got(20);
    const children = readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, "utf8")
      .trim()
      .split(" ");
    const victim = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("1/3:2/3"));
    process.kill(Number(victim), "SIGKILL");
    const { code, stdout } = await running.finished;
    expect(code, stdout).toBe(4);
    const run = runOf(out);
    expect(run.verdict).toBe("inconclusive");
    expect(run.reasons.map(({ text }) => text).join()).toMatch(
      /k6-2 \(segment 1\/3:2\/3\) was ended by SIGKILL: .* missing/,
    );
    expect(run.instances?.map(({ complete }) => complete)).toEqual([true, false, true]);
    expect(run.instances?.filter(({ complete }) => complete).map(({ requests }) => requests)).toEqual([40, 40]);
  });

  test("SIGINT is passed on: running requests may end, and a partial record is written", async () => {
    await using b = await bench([], plain(10, 60));
    const out = join(b.folder, "run");
    const args = ["load", b.file, "--engine", "k6", "--instances", "2", "--target", b.target, "--out", out];
    await using running = startGauntlet(args, ENVIRONMENT);
    await b.gateway.got(10);
    running.child.kill("SIGINT");
    const { code } = await running.finished;
    expect(code).toBe(130);
    const run = runOf(out);
    expect([run.verdict, run.reasons[0]?.text]).toEqual(["inconclusive", expect.stringMatching(/^interrupted/)]);
    expect(sumOf(run, "failed")).toBe(0);
  });

  test("an exported folder passes inspect and archive, runs with plain k6, is imported as json and csv, and holds no key", async () => {
    await using b = await bench([], plain(20, 3));
    const out = join(b.folder, "out");
    const exported = await gauntlet(["k6", "export", b.file, "--target", b.target, "--out", out], ENVIRONMENT);
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining("archive.tar") });
    const k6 = (args: readonly string[], key?: string) =>
      spawnSync(K6 as string, args, {
        cwd: out,
        encoding: "utf8",
        env: { ...process.env, K6_NO_USAGE_REPORT: "true", ...(key === undefined ? {} : { GAUNTLET_KEY: key }) },
      });
    const inspected = k6(["inspect", "gauntlet.ts"]);
    expect(inspected.status, inspected.stderr).toBe(0);
    expect(Object.keys(JSON.parse(inspected.stdout).scenarios)).toEqual(["load_0"]);
    expect(k6(["inspect", "archive.tar"]).status).toBe(0);
    expect(k6(["run", "--quiet", "--address", "", "gauntlet.ts"]).stderr).toContain("GAUNTLET_KEY");
    const shares = ["--execution-segment-sequence", "0,1/2,1", "--quiet", "--address", ""];
    const first = k6(
      ["run", "--execution-segment", "0:1/2", ...shares, "--out", "json=a.json.gz", "gauntlet.ts"],
      CANARY,
    );
    const second = k6(["run", "--execution-segment", "1/2:1", ...shares, "--out", "csv=b.csv", "archive.tar"], CANARY);
    expect([first.status, second.status], first.stderr + second.stderr).toEqual([0, 0]);
    expect((await b.gateway.log()).total).toBe(60);
    for (const name of readdirSync(out, { recursive: true, encoding: "utf8" })) {
      if (statSync(join(out, name)).isFile())
        expect(readFileSync(join(out, name)).includes(CANARY), `${name} holds the key`).toBe(false);
    }
    const imported = join(b.folder, "imported");
    const files = [join(out, "a.json.gz"), join(out, "b.csv")];
    const done = await gauntlet(["k6", "import", ...files, "--target", b.target, "--out", imported], ENVIRONMENT);
    const run = runOf(imported);
    expect([sumOf(run, "sent"), run.engine, run.instances?.map(({ segment }) => segment)]).toEqual([
      60,
      "k6",
      ["0:1/2", "1/2:1"],
    ]);
    // One after the other, seconds apart: all samples are present, and the output reports separate schedules.
    expect([done.code, run.reasons.map(({ text }) => text).join()]).toEqual([
      4,
      expect.stringMatching(/instances began .* s apart/),
    ]);
    for (const one of run.instances ?? [])
      expect(Math.abs(one.clockOffsetMs ?? 9e9)).toBeLessThanOrEqual((one.clockUncertaintyMs ?? 0) + 100);
    const half = join(b.folder, "half");
    const partial = await gauntlet(
      ["k6", "import", files[0] as string, "--target", b.target, "--out", half],
      ENVIRONMENT,
    );
    expect([
      partial.code,
      runOf(half)
        .reasons.map(({ text }) => text)
        .join(),
    ]).toEqual([4, expect.stringContaining("share 1/2:1")]);
  });
});

describe.skipIf(K6 === undefined)(`k6 compared with the native engine${WITHOUT}`, () => {
  test("failures have the same names", async () => {
    await using b = await bench(
      [],
      `name: bench
arrivals: { kind: constant, ratePerS: 20, durationS: 3 }
mix:
  - { dialect: chat }
  - { dialect: chat, stream: true, model: drop-midstream }
  - { dialect: messages, stream: true, model: drop-midstream }
  - { dialect: messages, model: fail-500 }
  - { dialect: chat, model: no-such-model }
allow: { deniedShare: 1, failedShare: 1 }
`,
    );
    const named = async (engine: string) => {
      const out = join(b.folder, engine);
      await gauntlet(["load", b.file, "--engine", engine, "--target", b.target, "--out", out], ENVIRONMENT);
      const [phase] = runOf(out).phases;
      return {
        failures: phase?.failures.map(({ what }) => what).sort(),
        denials: phase?.denials.map(({ reason, dialect }) => `${reason} ${dialect}`).sort(),
        classes: phase?.classes.map(({ dialect, stream, outcome }) => `${dialect} ${stream} ${outcome}`).sort(),
      };
    };
    const native = await named("native");
    expect(await named("k6")).toEqual(native);
    expect(native.failures?.length).toBeGreaterThan(1);
    expect(native.denials).toEqual(["model_not_found chat"]);
  });
});

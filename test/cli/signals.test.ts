// real-time: ends processes at a moment of their work
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { adversary } from "../adversary/adversary.ts";
import { type Behaviour, CHUNKED, chunk, EVENTS_TYPE, flood, head, whole } from "../adversary/behaviour.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { listening } from "../support/listening.ts";
import { recordProblems } from "../support/record-schema.ts";
import { unzipped } from "../support/run-files.ts";
import { slowed } from "../support/slowed.ts";

/** The promised time, s, and what the tests' machine may add. */
const PROMISED_S = 3;
const SLACK_S = 1;

const MIB = 1024 * 1024;
const bombMember = gzipSync(Buffer.alloc(16 * MIB));
const logLines = Buffer.from(
  'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"::error title=x::y\\n"}}]}\n\n'.repeat(
    200,
  ),
);

const HOSTILE: readonly Behaviour[] = [
  {
    name: "an unrequested gzip bomb without end",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, "content-encoding: gzip", CHUNKED));
      flood(socket, chunk(bombMember));
    },
  },
  {
    name: "gzip bombs, one after the other",
    respond: (socket) =>
      socket.write(whole(Buffer.concat([bombMember, bombMember]), "200 OK", "content-encoding: gzip")),
  },
  {
    name: "log lines without end",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, CHUNKED));
      flood(socket, chunk(logLines));
    },
  },
];

const TARGET = "keys: { valid: env:K }\nmodels: { chat: plain }\nlimits: { rpm: 6000, inFlight: 256 }\n";
const KEY = { K: "sk-0123456789abcdef" };
const LOAD =
  "name: small\narrivals: { kind: constant, ratePerS: 20, durationS: 60 }\nmix: [{ dialect: chat }, { dialect: chat, stream: true }]\n";

interface End {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly seconds: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Sends the signal, gives the process only a share of the CPU time from then on, and waits for its exit. */
async function end({ child, finished }: Running, signal: NodeJS.Signals, share = 1): Promise<End> {
  const atMs = performance.now();
  child.kill(signal);
  using _slowed = share === 1 ? undefined : slowed(child, share);
  const { code, stdout, stderr } = await finished;
  return { code, by: child.signalCode, seconds: (performance.now() - atMs) / 1_000, stdout, stderr };
}

/** Its own record, or what `gauntlet report` makes of the journal: there is always one of them. */
async function reportOf(folder: string): Promise<{ verdict: string; headline: string }> {
  if (existsSync(join(folder, "run.json"))) expect(recordProblems(folder)).toEqual([]);
  return JSON.parse((await gauntlet(["report", folder, "--print", "json"])).stdout);
}

describe.each([
  ["a machine with time", 1],
  ["a machine with ten times the load that it has processors for", 0.1],
])("%s", (_name, share) => {
  test.each(
    HOSTILE.flatMap((behaviour) => [
      { behaviour, name: behaviour.name, command: "conform", signal: "SIGTERM" as const },
      { behaviour, name: behaviour.name, command: "load", signal: "SIGINT" as const },
    ]),
  )("$command, $name: $signal ends it in time, with a report", async ({ behaviour, command, signal }) => {
    await using hostile = await adversary(behaviour, false);
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "gauntlet.yaml"), `baseUrl: ${hostile.baseUrl}\n${TARGET}`);
    writeFileSync(join(folder.path, "small.yaml"), LOAD);
    const out = join(folder.path, "run");
    const args = command === "load" ? ["load", "small.yaml"] : ["conform"];
    await using running = startGauntlet([...args, "--target", "gauntlet.yaml", "--out", out], KEY, folder.path);
    await expect.poll(() => hostile.requests(), { timeout: 30_000 }).toBeGreaterThan(12);
    const { code, by, seconds, stderr } = await end(running, signal, share);
    expect(seconds).toBeLessThan(PROMISED_S + SLACK_S);
    // Killed only if it had no time for anything else, and then it says what to do.
    if (by === "SIGKILL") {
      expect(share).toBeLessThan(1);
      expect(stderr).toContain(`gauntlet report ${out}`);
    } else expect(code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(await reportOf(out)).toMatchObject({ verdict: expect.stringMatching(/^(inconclusive|fail)$/) });
  });
});

test("requests in flight that get no response do not delay the end of a load", async () => {
  const silent = createServer((request) => void request.resume());
  await using server = await listening(silent, () => silent.closeAllConnections());
  using folder = temporaryFolder();
  const out = join(folder.path, "run");
  writeFileSync(join(folder.path, "gauntlet.yaml"), `baseUrl: ${server.origin}/v1\n${TARGET}`);
  writeFileSync(join(folder.path, "small.yaml"), LOAD);
  await using running = startGauntlet(
    ["load", "small.yaml", "--target", "gauntlet.yaml", "--out", out],
    KEY,
    folder.path,
  );
  await expect
    .poll(() => unzipped(join(out, "journal.ndjson.gz")).includes("load-progress"), { timeout: 30_000 })
    .toBe(true);
  const { code, seconds, stdout } = await end(running, "SIGTERM");
  expect(seconds).toBeLessThan(PROMISED_S + SLACK_S);
  expect(code).toBe(143);
  expect(stdout).toContain("interrupted by SIGTERM");
  expect(recordProblems(out)).toEqual([]);
});

/** A folder with a suite `own` of invariants from `judge`, as in a project that depends on the package. */
function projectWith(count: number, judge: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(ROOT, join(folder.path, "node_modules", "gateway-gauntlet"), "dir");
  writeFileSync(
    join(folder.path, "own.mjs"),
    `import { defineInvariant } from "gateway-gauntlet";
export default Array.from({ length: ${count} }, (_, index) => defineInvariant({
  id: "own.slow-" + index, title: "takes its time", covers: ["HIST-2"], explains: "It holds up the event loop.",
  judge(responses, verdict) { ${judge} },
}));
`,
  );
  return folder;
}

test("a signal while invariants are judged does not wait for all of them", async () => {
  using folder = projectWith(
    60,
    "process.stderr.write('judging\\n'); for (const end = Date.now() + 200; Date.now() < end; ); verdict.observe('HIST-2', 1);",
  );
  const out = join(folder.path, "run");
  await using running = startGauntlet(
    ["conform", "own", "models", "--suite", "own.mjs", "--target", "embedded", "--out", out],
    {},
    folder.path,
  );
  await running.printed("judging");
  const { code, seconds, stdout } = await end(running, "SIGTERM");
  expect(seconds).toBeLessThan(PROMISED_S + SLACK_S);
  expect(code).toBe(143);
  expect(stdout).toContain("interrupted by SIGTERM");
  expect(recordProblems(out)).toEqual([]);
});

test("a custom check that never returns is stopped, and the run is written", async () => {
  using folder = projectWith(1, "for (;;);");
  const out = join(folder.path, "run");
  await using running = startGauntlet(
    ["conform", "own", "limits", "--suite", "own.mjs", "--target", "embedded", "--out", out],
    {},
    folder.path,
  );
  const isUnderWay = () => unzipped(join(out, "journal.ndjson.gz")).includes('"check-started"');
  await expect.poll(isUnderWay, { timeout: 30_000 }).toBe(true);
  const { by, seconds, stderr } = await end(running, "SIGTERM");
  expect(seconds).toBeLessThan(PROMISED_S + SLACK_S);
  expect(by).toBe("SIGKILL");
  expect(stderr).toContain(`gauntlet report ${out}`);
  expect(await reportOf(out)).toMatchObject({ verdict: "inconclusive" });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a command under test that ignores signals: %s", async (signal, exitCode) => {
  using folder = temporaryFolder();
  const deaf = "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1e3)";
  const out = join(folder.path, "run");
  await using running = startGauntlet(["client", "--out", out, "--", process.execPath, "-e", deaf], {}, folder.path);
  await running.printed("20 scenarios");
  const { code, seconds } = await end(running, signal);
  expect(seconds).toBeLessThan(PROMISED_S + SLACK_S);
  expect(code).toBe(exitCode);
  expect(recordProblems(out)).toEqual([]);
});

describe("Ctrl-C", () => {
  test("says at once that the report is written; suites and tiers that did not run have no row", async () => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    await using running = startGauntlet(["run", "--target", "embedded", "--out", out]);
    await running.printed(/\d+ check instances/);
    running.child.kill("SIGINT");
    await running.printed("gauntlet: stopping: writing the report\n");
    expect(running.child.exitCode).toBeNull();
    const { code, stdout, stderr } = await running.finished;
    expect([code, stderr.match(/stopping/g)?.length]).toEqual([130, 1]);
    const rows = [...stdout.matchAll(/^│ (\S+) +│(.*)│$/gm)].map(([, suite = "", cells = ""]) => ({ suite, cells }));
    const { checks } = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    const decided = (checks as CheckResult[]).filter(({ status }) => status !== "inconclusive");
    expect(rows.slice(1).map(({ suite }) => suite)).toEqual([...new Set(decided.map(({ suite }) => suite))]);
    expect(stdout).not.toMatch(/^(starter|growth|scale) \(/m);
    expect(stdout).toContain("the run ended before this check");
  });

  test("before a load has begun, prints no table", async () => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    await using running = startGauntlet(["load", "starter", "growth", "--target", "embedded", "--out", out]);
    // The run is recorded, and the machine is being measured.
    await expect.poll(() => existsSync(join(out, "journal.ndjson.gz")), { interval: 5, timeout: 30_000 }).toBe(true);
    const { code, stdout } = await end(running, "SIGINT");
    expect(code).toBe(130);
    expect(stdout).not.toMatch(/[┌│]|starter|growth/);
    expect(stdout).toMatch(/^INCONCLUSIVE: .*interrupted by SIGINT/);
  });

  test.skipIf(process.platform !== "linux")(
    "while the reference gateway starts, is not an error of Gauntlet",
    async () => {
      await using running = startGauntlet(["conform", "--target", "embedded"]);
      const { pid } = running.child;
      // The gateway has not printed its address yet.
      const hasGateway = () =>
        readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
          .split(" ")
          .some((child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("gateway"));
      await expect.poll(hasGateway, { interval: 5, timeout: 30_000 }).toBe(true);
      const { code, stderr } = await end(running, "SIGINT");
      expect([code, stderr]).toEqual([
        130,
        "gauntlet: stopping\ngauntlet: interrupted by SIGINT before anything was judged\n",
      ]);
    },
  );
});

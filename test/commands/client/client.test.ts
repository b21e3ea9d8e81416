// real-time: compares durations that it measures
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { CheckResult, RunRecord } from "../../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { searchable, unzipped } from "../../support/run-files.ts";

const CLIENT = fileURLToPath(new URL("../../support/clients/client.mjs", import.meta.url));

/** Runs the client of these tests with one defect through the named scenarios, or all. */
async function judge(defect: string, scenarios: readonly string[], more: readonly string[] = []) {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  const args = ["client", ...scenarios.flatMap((name) => ["--scenario", name]), ...more, "--out", run];
  const finished = await gauntlet([...args, "--", process.execPath, CLIENT, defect]);
  const record = JSON.parse(readFileSync(join(run, "run.json"), "utf8")) as RunRecord;
  const html = readFileSync(join(run, "report.html"), "utf8");
  const again = await gauntlet(["rejudge", run, "--json"]);
  const of = (name: string) => record.checks.find(({ id }) => id === `client.${name}`) as CheckResult;
  return { ...finished, record, html, again: JSON.parse(again.stdout), of };
}

/** The message if the test's machine is too busy to distinguish jitter from its own lag. */
const LATE = /on a machine with timer delays of \d+ ms/;

describe("gauntlet client", () => {
  test("a client that follows every rule passes every scenario", async () => {
    const { code, record, stdout } = await judge("none", [], ["--jobs", "6"]);
    // A busy machine makes results inconclusive, never failed.
    const open = record.checks.some(({ status, message }) => status === "inconclusive" && LATE.test(message));
    const others = record.checks.filter(({ status, message }) => status !== "pass" && !LATE.test(message));
    expect(others.map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
    expect(record.checks).toHaveLength(20);
    expect(stdout).toMatch(/✓ rate-seconds +429, 2\.\d\d s, 429, 1\.\d\d s, 200/);
    expect(stdout).toMatch(/✓ rate-long +(?:no further attempt|still waiting when the observation ended)\n/);
    expect(stdout).not.toContain("[object");
    expect(stdout).toContain(open ? "INCONCLUSIVE: " : "PASS: ");
    expect(code).toBe(open ? 4 : 0);
    expect(record.requirements.every(({ binds }) => binds === "client")).toBe(true);
  });

  const denied = /^expected no retry after/;

  /** Defects of one client, and the result of each scenario: the requirement that is broken, and how. */
  const DEFECTIVE: readonly [
    defects: string,
    found: Readonly<Record<string, readonly [requirement: string, says: RegExp]>>,
  ][] = [
    [
      "impatient",
      {
        "rate-seconds": ["RETRY-1", /expected a wait of 2\.00 s .*got a retry after 1\.\d\d s/],
        "concurrency-seconds": ["RETRY-1", /a wait of 1\.00 s/],
      },
    ],
    [
      "no-dates,cuts-long-waits,loops,keeps-parallel,retries-keys,retries-money,retries-budget,retries-models,appends,leaks",
      {
        "rate-date": ["RETRY-1", /`Retry-After: \w{3}, .* GMT`/],
        "rate-long": ["RETRY-1", /a wait of 600\.00 s/],
        "rate-unusable-retry-after": ["RETRY-2", /a wait between attempts/],
        parallelism: ["RETRY-6", /fewer in flight than the 8 .*, got \d+ in flight/],
        "key-invalid": ["RETRY-3", /no retry after 401 invalid_api_key, got 4 attempts/],
        "key-revoked": ["RETRY-3", /no retry after 401 key_revoked/],
        "credits-exhausted": ["RETRY-4", /no retry after 402 .*whatever `Retry-After: 1` says/],
        "spend-cap": ["RETRY-4", /no retry after 402 quota_exceeded/],
        "budget-exhausted": ["RETRY-5", /no retry after 429 budget_exhausted, whatever/],
        "model-unknown": ["RETRY-10", denied],
        "stream-cut": ["RETRY-8", /one text from both: "… one-8 two-1 …"/],
        redirect: ["KEY-ONE-HOST", /POST \/v1\/chat\/completions with the key in header x-api-key/],
      },
    ],
    [
      "endless,continues",
      {
        "server-error": ["RETRY-9", /at most 10 attempts, got attempt 11 after .*, and no end/],
        "stream-cut": ["RETRY-8", /a request to continue the text/],
      },
    ],
    ["x-api-key", { served: ["CLIENT-3", /one header `Authorization: Bearer …`, got x-api-key/] }],
  ];

  test.each(DEFECTIVE)("%s: finds each defect by name, with evidence", async (defects, found) => {
    const { code, record, of, stdout, html, again } = await judge(defects, Object.keys(found));
    for (const [name, [requirement, says]] of Object.entries(found)) {
      const { status, violated, message, findings } = of(name);
      expect([status, violated, message], name).toEqual(["fail", [requirement], expect.stringMatching(says)]);
      expect(findings.find(({ outcome }) => outcome === "broken")?.exchanges[0]).toMatch(`${name}-`);
      expect(html).toContain(`gauntlet client --scenario ${name} -- `);
    }
    expect(record.checks).toHaveLength(Object.keys(found).length);
    expect(stdout).toMatch(/^✗ \d+ check instances?: .*\n.*\n\s+in client\./m);
    expect(again).toMatchObject({ exitCode: 1, changed: [], counts: record.counts });
    expect(again.checks.map(({ message }: CheckResult) => message)).toEqual(
      record.checks.map(({ message }) => message),
    );
    expect(code).toBe(1);
  });

  test("waits that do not grow fail, or are inconclusive on a machine with delayed timers", async () => {
    const { of } = await judge("constant", ["rate-without-retry-after", "server-error"]);
    for (const [name, requirement] of [
      ["rate-without-retry-after", "RETRY-2"],
      ["server-error", "RETRY-9"],
    ] as const) {
      const { status, violated, message } = of(name);
      if (status === "inconclusive") expect(message).toMatch(LATE);
      else
        expect([status, violated, message]).toEqual(["fail", [requirement], expect.stringMatching(/waits that grow/)]);
    }
  });

  test("waits without jitter fail, or are inconclusive on a machine with delayed timers", async () => {
    const { code, of } = await judge("no-jitter", ["rate-without-retry-after"]);
    const { status, message } = of("rate-without-retry-after");
    if (status === "inconclusive") expect(message).toMatch(LATE);
    else expect([status, message]).toEqual(["fail", expect.stringMatching(/differ from call to call/)]);
    expect(code).toBe(status === "inconclusive" ? 4 : 1);
  });

  test("a blind repeat after a timeout warns: its side effects are not visible in the traffic", async () => {
    const { code, of } = await judge("repeats", ["no-answer"]);
    expect(of("no-answer")).toMatchObject({ status: "warn", violated: ["RETRY-13"] });
    expect(of("no-answer").message).toMatch(/may be charged twice.* 3 attempts/);
    expect(code).toBe(0);
  });

  test("a client that crashes is reported with its last output, and nothing passes", async () => {
    const { code, of } = await judge("crashes", ["served", "key-invalid"]);
    expect(of("served")).toMatchObject({ status: "blocked" });
    expect(of("served").message).toMatch(/it sent nothing to GAUNTLET_BASE_URL and ended with exit code 1/);
    expect(of("key-invalid").status).toBe("blocked");
    expect(code).toBe(4);
  });

  test("a client that never ends is stopped", async () => {
    const { code, of } = await judge("hangs", ["served"], ["--timeout", "1"]);
    expect(of("served").message).toMatch(/it sent nothing to GAUNTLET_BASE_URL and was stopped after 1\.\d\d s/);
    expect(code).toBe(4);
  });

  test("no key reaches the run folder or the terminal, and the operator's own keys do not reach the command", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "runs"));
    const run = join(folder.path, "runs", "run");
    const shows = `const { env } = process;
      console.error(env.OPENAI_API_KEY + env.MY_TOKEN);
      fetch(env.OPENAI_BASE_URL + "/models", { headers: { authorization: "Bearer " + env.GAUNTLET_API_KEY } });`;
    const { stdout, stderr } = await gauntlet(
      ["client", "--scenario", "served", "--out", run, "--", process.execPath, "-e", shows],
      { OPENAI_API_KEY: "sk-canary-of-the-operator", MY_TOKEN: "canary-token-of-mine" },
    );
    const files = readdirSync(run, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const all = [
      stdout,
      stderr,
      ...files.map(({ parentPath, name }) => searchable(join(parentPath, name)).toString("utf8")),
    ];
    expect(files.map(({ name }) => name)).toContain("report.html");
    expect(stdout).toMatch(/no generation request .* exit code 0 after .*: .*/);
    for (const text of all) expect(text).not.toMatch(/canary|gk-[A-Za-z0-9_-]{8}/);
  });

  test.each<[what: string, args: string[], says: RegExp]>([
    ["no command", ["client"], /no command to run[\s\S]*gauntlet client -- node app\.js/],
    [
      "a scenario that does not exist",
      ["client", "--scenario", "rate-second", "--", "true"],
      /Did you mean "rate-seconds"/,
    ],
    ["a program that does not exist", ["client", "--", "no-such-program"], /no-such-program cannot be started/],
    ["a bound below two attempts", ["client", "--most-attempts", "1", "--", "true"], /--most-attempts: 1/],
  ])("2: %s", async (_what, args, says) => {
    using folder = temporaryFolder();
    const { code, stderr } = await gauntlet(args, {}, folder.path);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  test("scenarios are listed, and named in the explanation of a requirement", async () => {
    const { stdout } = await gauntlet(["client", "--list-scenarios"]);
    expect(stdout).toMatch(/^budget-exhausted +No retry .* \[RETRY-5\]$/m);
    expect((await gauntlet(["explain", "RETRY-5"])).stdout).toContain(
      "Scenarios of `gauntlet client`: budget-exhausted",
    );
  });

  test("an interrupted run leaves a partial record and no running command", async () => {
    using folder = temporaryFolder();
    const run = join(folder.path, "run");
    const says =
      'process.stderr.write("");fetch(process.env.GAUNTLET_BASE_URL+"/models").then(()=>setTimeout(()=>{},600000))';
    const args = ["client", "--scenario", "served", "--out", run, "--", process.execPath, "-e", says];
    await using running = startGauntlet(args);
    const journal = () => unzipped(join(run, "journal.ndjson.gz"));
    await expect.poll(journal, { timeout: 20_000 }).toContain("check-started");
    running.child.kill("SIGINT");
    const { code } = await running.finished;
    expect(code).toBe(130);
    const record = JSON.parse(readFileSync(join(run, "run.json"), "utf8")) as RunRecord;
    expect(record).toMatchObject({ complete: false, verdict: { result: "inconclusive" } });
    expect(record.checks.map(({ message }) => message)).toEqual(["the run ended before this scenario"]);
  });
});

// real-time: ends processes at a moment of their work
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CheckResult } from "../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { recordProblems } from "../support/record-schema.ts";

const QUICK = ["conform", "models", "auth"];

describe("exit codes", () => {
  test("0: the reference gateway passes, with a run folder", async () => {
    using folder = temporaryFolder();
    const { code, stdout } = await gauntlet([...QUICK, "--target", "embedded", "--out", join(folder.path, "run")]);
    expect(stdout).toContain("PASS: embedded reference gateway");
    expect(code).toBe(0);
    const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
    expect(record).toMatchObject({ schemaVersion: 1, complete: true, verdict: { result: "pass", exitCode: 0 } });
  });

  test("1: a violated requirement, with expectation, observation, exchange and a curl line", async () => {
    using folder = temporaryFolder();
    const { code, stdout } = await gauntlet([
      "conform",
      "errors",
      "--mutation",
      "auth.unknown-key-403",
      "auth",
      "--out",
      join(folder.path, "run"),
    ]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/1 cause explains \d+ check instances: \d+ failed, \d+ warned/);
    expect(stdout).toMatch(
      /✗ \d+ check instances \(\d+ failed, \d+ warned\): a request with an invalid key: expected 401, got 403 invalid_api_key\n\s+AUTH-3 \(MUST\): An invalid key/,
    );
    expect(stdout).toMatch(/in auth\.unknown-key\[models\], .* and \d+ more\n/);
    expect(stdout).toMatch(/exchange x\d+, 403:\n\s+curl -sS -i .*\n\s+control request x\d+, 200:\n\s+curl -sS -i /);
    expect(stdout).toMatch(
      /FAIL: .*\n {2}fail: a request with an invalid key: expected 401, got 403 invalid_api_key \(\d+ check instances\)\n/,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^exit code 1 \(failed\); report: .*report\.html$/);
  });

  test.each<[what: string, args: string[], says: RegExp]>([
    ["no command", [], /Exit codes: 0 passed[\s\S]*no command given\n {2}Use one of the commands above/],
    ["an unknown command", ["conforn"], /conform/],
    ["an unknown option", ["conform", "--tarket", "x"], /tarket/],
    ["an unknown suite", ["conform", "modells"], /no suite "modells"[\s\S]*Did you mean "models"/],
    ["an unknown check", ["conform", "--only", "chat.minimall"], /no check "chat.minimall"[\s\S]*Did you mean/],
    [
      "a target file that is not there",
      ["conform", "--target", "no-such.yaml"],
      /no-such\.yaml: cannot be read: no such file or folder\.\n/,
    ],
    ["an unknown requirement to explain", ["explain", "AUTH-99"], /unknown check, requirement or profile "AUTH-99"/],
    ["a folder without a run", ["rejudge", "."], /holds no readable run record/],
    ["an unknown mutation", ["conform", "models", "--mutation", "no.such"], /no\.such/],
  ])("2: %s", async (_what, args, says) => {
    using folder = temporaryFolder();
    const { code, stderr, stdout } = await gauntlet(args, {}, folder.path);
    expect(stderr).toMatch(says);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("2: a broken target file, with every problem at its place", async () => {
    using folder = temporaryFolder();
    writeFileSync(
      join(folder.path, "gauntlet.yaml"),
      "baseUrl: nowhere\nkeys:\n  valid: sk-canary-pasted-in\n  secnd: env:X\n",
    );
    const { code, stderr } = await gauntlet(["conform", "--target", "gauntlet.yaml"], {}, folder.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /gauntlet\.yaml:1:1 \(baseUrl\)[\s\S]*gauntlet\.yaml:3:3 \(keys\.valid\)[\s\S]*gauntlet\.yaml:4:3 \(keys\.secnd\).*Did you mean "second"/,
    );
    expect(stderr).not.toContain("canary");
  });

  test("3: nothing responds", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
    const { code, stderr } = await gauntlet([...QUICK, "--target", "t.yaml"], { K: "sk-canary" }, folder.path);
    expect(stderr).toMatch(
      /no response from http:\/\/127\.0\.0\.1:9\/v1: connection refused, no server listens on this port\n {2}Start the gateway/,
    );
    expect(stderr).not.toContain("ECONNREFUSED");
    expect(code).toBe(3);
  });

  test("4: one key only: what it can show is judged, the rest is blocked with the lines that unblock it", async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway"]);
    const ready = JSON.parse(await gateway.printed("\n"));
    writeFileSync(join(folder.path, "t.yaml"), `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\n`);
    const { code, stdout } = await gauntlet(
      ["conform", "auth", "errors", "--target", "t.yaml"],
      { K: ready.keys.valid },
      folder.path,
    );
    expect(stdout).toMatch(
      /▣ \d+ check instances were blocked[\s\S]*replace these sections of t\.yaml[\s\S]*revoked: env:GW_REVOKED/,
    );
    expect(stdout).toContain("INCONCLUSIVE");
    expect(code).toBe(4);
  });

  test("4: of all suites, one key judges what it can show, and every blocked check says what would unblock it", async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway"]);
    const ready = JSON.parse(await gateway.printed("\n"));
    writeFileSync(
      join(folder.path, "t.yaml"),
      `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nlimits: { rpm: 6000, inFlight: 256 }\n`,
    );
    const run = ["conform", "--target", "t.yaml", "--out", "run", "--json"];
    const { code, stdout } = await gauntlet(run, { K: ready.keys.valid }, folder.path);
    const { checks, counts } = JSON.parse(stdout) as { checks: CheckResult[]; counts: Record<string, number> };
    expect(code).toBe(4);
    expect(counts).toMatchObject({ fail: 0, flaky: 0, "harness-error": 0, warn: 0 });
    expect(counts["pass"]).toBeGreaterThan(250);
    const blocked = checks.filter(({ status }) => status === "blocked");
    expect(blocked.length).toBeGreaterThan(50);
    expect(blocked.filter(({ unblock }) => unblock.length === 0)).toEqual([]);
    const lines = new Set(blocked.flatMap(({ unblock }) => unblock.map((line) => line.trim())));
    for (const state of ["revoked:", "capped:", "empty:", "childExhausted:", "stream:", "tools:", "upstreamError:"])
      expect(
        [...lines].some((line) => line.startsWith(state)),
        state,
      ).toBe(true);
  });

  test("1: without a model in file or list, the list is blamed and what needs a model is blocked, not failed", async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway", "--mutation", "models.other-field"]);
    const ready = JSON.parse(await gateway.printed("\n"));
    writeFileSync(join(folder.path, "t.yaml"), `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\n`);
    const run = ["conform", "models", "chat", "messages", "errors", "--target", "t.yaml", "--out", "run", "--json"];
    const { code, stdout } = await gauntlet(run, { K: ready.keys.valid }, folder.path);
    const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
    const failed = checks.filter(({ status }) => status === "fail").map(({ id }) => id);
    expect(failed).toEqual(["models.list", "models.every-list"]);
    const minimal = checks.find(({ id }) => id.startsWith("chat.minimal"));
    expect(minimal).toMatchObject({
      status: "blocked",
      message: "the target file has no model that is served (models.chat or models.messages)",
    });
    expect(minimal?.unblock.join(" ")).toContain("chat:");
    expect(code).toBe(1);
  });

  test("4: a budget that is used up stops the run, and says which", async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway"]);
    const ready = JSON.parse(await gateway.printed("\n"));
    for (const [budget, says] of [
      ["{ requests: 10 }", "and the budget has room for 0 after the cheaper checks"],
      ["{ outputTokens: 20 }", "the budget of 20 output tokens is used up"],
    ] as const) {
      writeFileSync(
        join(folder.path, "t.yaml"),
        `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\nbudget: ${budget}\n`,
      );
      const run = ["conform", "chat", "--target", "t.yaml"];
      const { code, stdout } = await gauntlet(run, { K: ready.keys.valid }, folder.path);
      expect(stdout).toContain(says);
      expect(code).toBe(4);
    }
  });

  test("2: a requirement set that this harness does not have", async () => {
    using folder = temporaryFolder();
    const text = "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\nrequirementSet: 99\n";
    writeFileSync(join(folder.path, "t.yaml"), text);
    const { code, stderr } = await gauntlet(["conform", "--target", "t.yaml"], { K: "sk-12345678" }, folder.path);
    expect(stderr).toMatch(/pins requirement set 99; this harness has sets up to 1/);
    expect(code).toBe(2);
  });

  test("what qualifies a verdict is in its first line: contract, header names, declared gaps", async () => {
    using folder = temporaryFolder();
    await using gateway = startGauntlet(["gateway", "--mutation", "auth.unknown-key-403"]);
    const ready = JSON.parse(await gateway.printed("\n"));
    writeFileSync(
      join(folder.path, "t.yaml"),
      `baseUrl: ${ready.baseUrl}
keys: { valid: env:K }
models: { chat: echo-fast }
contract: { denials: { invalid_api_key: { status: 403 } } }
headers: { action: X-Do }
skip: { key.revoked: none here }
`,
    );
    const run = ["conform", "--only", "auth.unknown-key[chat]", "--target", "t.yaml"];
    const { stdout } = await gauntlet(run, { K: ready.keys.valid }, folder.path);
    expect(stdout).toMatch(
      /(PASS|FAIL): [^\n]*\(partial: declared gaps key\.revoked; judged with overrides from contract: action hints in X-Do, invalid_api_key as 403\)/,
    );
    expect(stdout).not.toContain("expected 401");
  });

  test.each([
    ["143: terminated", 143, "SIGTERM"],
    ["130: interrupted", 130, "SIGINT"],
  ] as const)("%s, with a partial record", async (_what, exitCode, signal) => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    await using running = startGauntlet(["conform", "--target", "embedded", "--out", out]);
    await running.printed(/\d of \d+ check instances/);
    running.child.kill(signal);
    const { code, stdout } = await running.finished;
    expect(code).toBe(exitCode);
    expect(stdout).toContain(`interrupted by ${signal}`);
    expect(recordProblems(out)).toEqual([]);
    const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    expect(record).toMatchObject({ complete: false, verdict: { result: "inconclusive", exitCode } });
  });
});

test("--json prints one document and nothing else, whatever the verdict", async () => {
  using folder = temporaryFolder();
  const { code, stdout } = await gauntlet([
    "conform",
    "models",
    "--json",
    "--mutation",
    "models.entries-of-another-object",
    "--out",
    join(folder.path, "r"),
  ]);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({ schemaVersion: 1, verdict: "pass", exitCode: code });
  expect(document.checks[0]).toMatchObject({
    id: "models.list",
    status: "pass",
    requirements: ["MODELS-1", "MODELS-2", "MODELS-6"],
  });
  expect(Object.values(document.counts).reduce((sum: number, count) => sum + Number(count), 0)).toBe(
    document.checks.length,
  );
});

test("a kept run is judged again without traffic, with the same verdicts", async () => {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  const first = await gauntlet([
    "conform",
    "errors",
    "streaming",
    "--json",
    "--mutation",
    "denial.action-empty-on-429",
    "--out",
    run,
  ]);
  const again = await gauntlet(["rejudge", run, "--json"]);
  const before = JSON.parse(first.stdout);
  const after = JSON.parse(again.stdout);
  expect(after.changed).toEqual([]);
  expect(after.counts).toEqual(before.counts);
  expect(after.checks.map((check: { id: string; status: string }) => [check.id, check.status])).toEqual(
    before.checks.map((check: { id: string; status: string }) => [check.id, check.status]),
  );
  expect(again.code).toBe(first.code);
});

test("checks, explain and help", async () => {
  const checks = JSON.parse((await gauntlet(["checks", "--json"])).stdout);
  expect(checks.checks.find((check: { id: string }) => check.id === "errors.key-revoked").requirements).toContainEqual({
    id: "ERR-401-REVOKED",
    level: "MUST",
  });
  expect((await gauntlet(["explain", "errors.key-revoked"])).stdout).toMatch(
    /ERR-401-REVOKED \(MUST, 7\.T\.key_revoked/,
  );
  expect((await gauntlet(["explain", "AUTH-4"])).stdout).toContain("auth.revoked");
  expect((await gauntlet(["--help"])).stdout).toMatch(/^ {2}gateway {2,}Run the reference gateway/m);
});

// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test.each<[what: string, policy: string, exit: number, says: RegExp, more?: string[]]>([
  [
    "gates met",
    "gates: ['checks{status=fail} == 0']\nrequire: { suites: [models], requirements: [MODELS-1] }\n",
    0,
    /^PASS: embedded reference gateway at http\S+$/m,
  ],
  ["a gate missed", "gates: ['checks{status=pass} > 1000']\n", 1, /^FAIL: .*1 of the policy's gates failed$/m],
  [
    "a gate that nothing was measured for",
    "gates: ['ttft_ms p99 < 800']\n",
    4,
    /^INCONCLUSIVE: .*could not be decided$/m,
  ],
  [
    "a required suite of which one check was selected",
    "require: { suites: [models] }\n",
    4,
    /gate inconclusive: suite models judged: only 1 of its \d+ check instances were selected/,
    ["--only", "models.list"],
  ],
  ["a required suite that was not run", "require: { suites: [limits] }\n", 4, /^INCONCLUSIVE/m],
  ["a missing baseline", "baseline: none.json\ngates: ['ttft_ms p99 <= baseline']\n", 4, /^INCONCLUSIVE/m],
])("conform --policy: %s", async (_what, policy, exit, says, more = []) => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "policy.yaml"), policy);
  const { code, stdout } = await gauntlet(
    ["conform", "models", "--target", "embedded", "--policy", "policy.yaml", "--out", "run", ...more],
    {},
    folder.path,
  );
  expect(stdout).toMatch(says);
  expect(code).toBe(exit);
  const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
  expect(record.policy.gates.length).toBeGreaterThan(0);
  expect(readFileSync(join(folder.path, "run", "report.html"), "utf8").includes('id="gates"')).toBe(true);
});

test("a policy file with problems is refused before anything is sent, each problem at its place", async () => {
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "policy.yaml"),
    "gates:\n  - 'tftf_ms p99 < 1'\n  - 'denied == 0'\n  - 'denied == 0'\nrequire: { requirements: [AUTH-999] }\ncompatt: error\n",
  );
  const { code, stderr } = await gauntlet(["run", "--policy", "policy.yaml"], {}, folder.path);
  expect(code).toBe(2);
  expect(stderr).toMatch(/policy\.yaml:2:5 \(gates\.0\).*unknown metric "tftf_ms"/);
  expect(stderr).toMatch(/\(compatt\): unknown field "compatt"\. Did you mean "compat"/);
  writeFileSync(join(folder.path, "policy.yaml"), "gates: ['denied == 0', 'denied == 0']\n");
  expect((await gauntlet(["run", "--policy", "policy.yaml"], {}, folder.path)).stderr).toMatch(
    /the same figure in the same direction as gate 1/,
  );
  writeFileSync(join(folder.path, "policy.yaml"), "require: { requirements: [AUTH-999] }\n");
  expect((await gauntlet(["run", "--policy", "policy.yaml"], {}, folder.path)).stderr).toMatch(
    /no requirement "AUTH-999"/,
  );
  writeFileSync(
    join(folder.path, "policy.yaml"),
    "gates:\n  - 'checks{status=failed} == 0'\n  - 'denied{reason=rate_limit} == 0'\n",
  );
  const values = await gauntlet(["run", "--policy", "policy.yaml"], {}, folder.path);
  expect(values.code).toBe(2);
  expect(values.stderr).toMatch(/policy\.yaml:2:5 \(gates\.0\).*status=failed.*Did you mean "fail"/);
  expect(values.stderr).toMatch(/policy\.yaml:3:5 \(gates\.1\).*Did you mean "rate_limit_exceeded"/);
  writeFileSync(
    join(folder.path, "policy.yaml"),
    "require: { suites: [authh] }\ngates:\n  - 'checks{suite=autth,status=fail} == 0'\n  - 'checks{check=auth.unknown-kee} == 0'\n",
  );
  const names = await gauntlet(["run", "--policy", "policy.yaml"], {}, folder.path);
  expect(names.code).toBe(2);
  expect(names.stderr).toMatch(
    /policy\.yaml:1:\d+ \(require\.suites\.0\): there is no suite "authh"\. Did you mean "auth"/,
  );
  expect(names.stderr).toMatch(/policy\.yaml:3:5 \(gates\.0\): there is no suite "autth"\. Did you mean "auth"/);
  expect(names.stderr).toMatch(
    /policy\.yaml:4:5 \(gates\.1\): there is no check "auth\.unknown-kee"\. Did you mean "auth\.unknown-key"/,
  );
});

test("the next run is compared with the accepted one", async () => {
  using folder = temporaryFolder();
  const at = folder.path;
  writeFileSync(join(at, "policy.yaml"), "baseline: gauntlet-baseline.json\n");
  await gauntlet(["conform", "--target", "embedded", "models", "--out", "good"], {}, at);
  const accepted = await gauntlet(["baseline", "accept", "good"], {}, at);
  expect(accepted).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^gauntlet-baseline\.json: \d+ check instances of run/),
  });
  const file = readFileSync(join(at, "gauntlet-baseline.json"), "utf8");
  expect(JSON.parse(file).conformance.checks["models.list"]).toBe("pass");
  const bad = ["conform", "models", "--mutation", "models.other-field", "--policy", "policy.yaml", "--out", "bad"];
  expect((await gauntlet(bad, {}, at)).code).toBe(1);
  const { comparison } = JSON.parse(readFileSync(join(at, "bad", "run.json"), "utf8"));
  expect(comparison.kind).toBe("baseline");
  expect(comparison.checks.newlyFailing.map(({ id }: { id: string }) => id)).toContain("models.list");
  expect(comparison.checks.vanished).toEqual([]);
});

test("run drives the load that the policy requires, and repeats it for a failed gate", async () => {
  using folder = temporaryFolder();
  const at = folder.path;
  writeFileSync(
    join(at, "small.yaml"),
    "name: small\narrivals: { kind: constant, ratePerS: 40, durationS: 2 }\nmix: [{ dialect: chat }]\n",
  );
  writeFileSync(
    join(at, "policy.yaml"),
    "load: [small.yaml]\ngates: [ 'response_ms p999 < 10000', 'schedule_lag_ms max < -1']\n",
  );
  const args = [
    "run",
    "--target",
    "embedded",
    "--only",
    "models.list",
    "--policy",
    "policy.yaml",
    "--confirm",
    "--out",
    "run",
  ];
  const { code, stderr } = await gauntlet(args, {}, at);
  expect(stderr).toMatch(/plan for embedded reference gateway \(small\)/);
  expect(code).toBe(1);
  const record = JSON.parse(readFileSync(join(at, "run", "run.json"), "utf8"));
  expect(record.load.runs.map(({ name }: { name: string }) => name)).toEqual(["small"]);
  const gates = new Map(record.policy.gates.map((gate: { gate: string }) => [gate.gate, gate]));
  expect(record.policy.confirmed).toBe(true);
  // No machine sends early; and the generator's own figures count even if it was too slow for a verdict.
  expect(gates.get("schedule_lag_ms max < -1")).toMatchObject({ outcome: "fail", first: { outcome: "fail" } });
  // Eighty samples cannot show a p99.9, whatever the generator was like.
  expect(gates.get("response_ms p999 < 10000")).toMatchObject({ outcome: "inconclusive" });
  expect((await gauntlet(["run", "--target", "embedded", "--only", "models.list", "--confirm"], {}, at)).code).toBe(2);
  // Without a policy it is not required.
  expect(
    (await gauntlet(["run", "--target", "embedded", "--only", "models.list", "--out", "plain"], {}, at)).code,
  ).toBe(0);
}, 120_000);

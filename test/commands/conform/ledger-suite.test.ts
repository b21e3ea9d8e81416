// real-time: a ledger is read until nothing changes any more
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunRecord } from "../../../src/record/index.ts";
import { filesBelow, tracesOf } from "../../support/canary.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { searchable } from "../../support/run-files.ts";

const CHECKS = ["ledger.charged", "ledger.cost", "ledger.totals", "ledger.failures", "ledger.interrupted"];

/** A reference gateway with a ledger, and a target file that describes it. */
async function withLedger(...options: string[]) {
  const folder = temporaryFolder();
  const gateway = startGauntlet(["gateway", "--with-upstream", ...options], {}, folder.path);
  const ready = JSON.parse(await gateway.printed("\n"));
  const { path, ...described } = ready.ledger;
  const target = {
    baseUrl: ready.baseUrl,
    keys: { valid: "env:GW_KEY" },
    models: { chat: "upstream-model", messages: "upstream-model" },
    upstream: { controlUrl: ready.upstream.controlUrl, token: "env:UPSTREAM_TOKEN", failover: ready.upstream.failover },
    ledger: { ...described, url: `${ready.adminUrl}${path}`, token: "env:LEDGER_TOKEN", key: "env:GW_LEDGER" },
  };
  // JSON is YAML.
  writeFileSync(join(folder.path, "target.yaml"), JSON.stringify(target, null, 2));
  const environment = {
    GW_KEY: ready.keys.valid,
    GW_LEDGER: ready.keys.second,
    UPSTREAM_TOKEN: ready.upstream.controlToken,
    LEDGER_TOKEN: ready.adminToken,
  };
  return {
    folder,
    ready,
    run: (args: readonly string[], more: Record<string, string> = {}) =>
      gauntlet([...args], { ...environment, ...more }, folder.path),
    record: (out: string) => JSON.parse(readFileSync(join(folder.path, out, "run.json"), "utf8")) as RunRecord,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const conform = ["conform", "--target", "target.yaml", "--out", "run", ...CHECKS.flatMap((id) => ["--only", id])];
const verdicts = ({ checks }: RunRecord) => checks.map(({ id, status, message }) => `${id} ${status}: ${message}`);

test("a stored run is judged again from the rows in its record, without the ledger", { timeout: 120_000 }, async () => {
  await using gateway = await withLedger("--mutation", "ledger.streams-without-cache-discount");
  const { code, stdout, stderr } = await gateway.run(conform);
  expect([code, stdout]).toEqual([1, expect.stringContaining("LEDGER-COST")]);
  const first = gateway.record("run");
  expect(first.checks.map(({ id, status }) => [id, status])).toEqual([
    ["ledger.charged", "pass"],
    ["ledger.failures", "pass"],
    ["ledger.interrupted", "observed"],
    ["ledger.cost", "fail"],
    ["ledger.totals", "pass"],
  ]);
  // The token is not needed: nothing is read.
  const again = await gateway.run(["rejudge", "run"], { LEDGER_TOKEN: "" });
  expect([again.code, again.stdout]).toEqual([1, expect.stringContaining("5 check instances judged again, 0 changed")]);
  expect(verdicts(gateway.record("run"))).toEqual(verdicts(first));
  const texts = [stdout, stderr, ...filesBelow(join(gateway.folder.path, "run")).map(searchable)];
  for (const secret of [gateway.ready.adminToken, gateway.ready.keys.second])
    for (const trace of tracesOf(secret)) expect(texts.filter((text) => text.includes(trace))).toEqual([]);
});

test("rows of an earlier run with the same key are not held against the next one", { timeout: 120_000 }, async () => {
  await using gateway = await withLedger();
  const ids = ["ledger.once", "ledger.failures", "ledger.rounding"];
  const args = ["conform", "--target", "target.yaml", ...ids.flatMap((id) => ["--only", id])];
  for (const out of ["first", "second"]) {
    await gateway.run([...args, "--out", out]);
    const { checks } = gateway.record(out);
    expect(checks.map(({ id, status, message }) => [id, status, message])).toEqual(
      ids.map((id) => [id, "pass", expect.any(String)]),
    );
  }
});

test("doctor reads the ledger, and says what it cannot read", { timeout: 120_000 }, async () => {
  await using gateway = await withLedger();
  const doctor = ["doctor", "--target", "target.yaml"];
  expect((await gateway.run(doctor)).stdout).toMatch(/▲ ledger: read, but 0 rows of the last hour/);
  await fetch(`${gateway.ready.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.ready.keys.second}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "upstream-model", messages: [{ role: "user", content: "hello" }] }),
  });
  expect((await gateway.run(doctor)).stdout).toMatch(/✓ ledger: 1 row of the last hour, 1 page/);
  const denied = await gateway.run(doctor, { LEDGER_TOKEN: "another-token-0123" });
  expect([denied.code, denied.stdout]).toEqual([2, expect.stringMatching(/✗ ledger: responded with 401/)]);
});

test("without a ledger the suite is omitted unless it is named, and then does not apply", async () => {
  await using gateway = await withLedger();
  const path = join(gateway.folder.path, "target.yaml");
  const { ledger: _ledger, ...rest } = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify(rest));
  const plan = await gateway.run(["conform", "--target", "target.yaml", "--dry-run"]);
  expect(plan.stdout).toContain("spending");
  expect(plan.stdout).not.toContain("ledger");
  const { code, stdout } = await gateway.run(["conform", "--target", "target.yaml", "--only", "ledger.cost", "--json"]);
  const { checks } = JSON.parse(stdout) as RunRecord;
  expect(checks.map(({ status, message }) => [status, message])).toEqual([
    ["not-applicable", expect.stringContaining("the target declares no ledger")],
  ]);
  expect(code).not.toBe(0);
});

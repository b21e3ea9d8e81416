// real-time: checks fill the limits of a minute and wait for Retry-After
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunRecord } from "../../../src/record/index.ts";
import { canaryKey, filesBelow, tracesOf } from "../../support/canary.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { searchable } from "../../support/run-files.ts";

interface InFront {
  readonly model?: string;
  /** Lines of the section `upstream`; none for a target without it. */
  readonly section?: (ready: Upstream) => string;
  readonly options?: readonly string[];
}

interface Upstream {
  readonly controlUrl: string;
  readonly controlToken: string;
}

const named = ({ controlUrl }: Upstream) => `upstream: { controlUrl: "${controlUrl}", token: env:UPSTREAM_TOKEN }`;

/** A reference gateway in front of two providers, and a target file for it. */
async function inFront({ model = "upstream-model", section = named, options = [] }: InFront = {}) {
  const folder = temporaryFolder();
  const gateway = startGauntlet(["gateway", "--with-upstream", ...options], {}, folder.path);
  const ready = JSON.parse(await gateway.printed("\n"));
  const lines = [
    `baseUrl: ${ready.baseUrl}`,
    "keys: { valid: env:GW_KEY }",
    `models: { chat: ${model}, messages: ${model} }`,
    section(ready.upstream),
  ];
  writeFileSync(join(folder.path, "target.yaml"), `${lines.join("\n")}\n`);
  const environment = { GW_KEY: ready.keys.valid, UPSTREAM_TOKEN: ready.upstream.controlToken };
  return {
    folder,
    ready,
    run: (...args: string[]) => gauntlet([...args, "--target", "target.yaml"], environment, folder.path),
    async judged(...args: string[]) {
      const { stdout, code } = await this.run("conform", ...args, "--json");
      return { code, record: JSON.parse(stdout) as RunRecord };
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const statuses = ({ checks }: RunRecord) => [...new Set(checks.map(({ status }) => status))].sort();

test("without our providers: omitted unless the suite is named, blocked if it is", async () => {
  await using gateway = await inFront({ section: () => "" });
  const plan = await gateway.run("conform", "--dry-run");
  expect(plan.stdout).toContain("errors");
  expect(plan.stdout).not.toContain("upstream");
  const { code, record } = await gateway.judged("--only", "upstream.caller-key", "--only", "UPSTREAM-KEEP-ALIVE");
  expect([code, statuses(record)]).toEqual([4, ["blocked"]]);
  expect(record.checks[0]?.unblock).toEqual([
    "upstream:",
    "  controlUrl: http://127.0.0.1:9101   # as `gauntlet upstream` prints it",
    "  token: env:UPSTREAM_TOKEN",
  ]);
  // Requirements that checks of other suites also cover are about these.
  const others = await gateway.run("conform", "--only", "ERR-5XX-1", "--dry-run");
  expect(others.stdout).not.toContain("upstream.");
});

test("with our providers the suite is part of every run, and failover has to be declared", async () => {
  await using gateway = await inFront();
  const plan = await gateway.run("conform", "--dry-run");
  expect(plan.stdout).toMatch(/upstream\D+18\D+147/);
  const { code, record } = await gateway.judged("--only", "upstream.caller-key", "--only", "upstream.failover");
  expect([code, statuses(record)]).toEqual([0, ["not-applicable", "pass"]]);
});

test("a model that other providers serve shows nothing about ours: blocked, never passed", async () => {
  await using gateway = await inFront({ model: "echo-fast" });
  const { code, record } = await gateway.judged("--only", "upstream.keep-alive", "--only", "upstream.caller-key");
  expect([code, statuses(record)]).toEqual([4, ["blocked"]]);
  expect(record.checks[0]?.message).toContain("did not reach the providers");
});

test.each([
  ["nobody listens", () => 'upstream: { controlUrl: "http://127.0.0.1:1", token: env:UPSTREAM_TOKEN }', /no response/],
  ["the token is another", (ready: Upstream) => named(ready).replace("UPSTREAM_TOKEN", "GW_KEY"), /refused: 401/],
])("if the control interface cannot be used, the run ends with 2 and says so: %s", async (_what, section, says) => {
  await using gateway = await inFront({ section });
  const { code, stderr } = await gateway.run("conform", "--only", "upstream.caller-key");
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  expect(stderr).toContain("upstream.controlUrl");
});

test("the operator's key, which this gateway's failures reveal, is never printed or written", async () => {
  using folder = temporaryFolder();
  const key = canaryKey("operator");
  await using upstream = startGauntlet(["upstream"], {}, folder.path);
  const { providers, controlUrl, controlToken } = JSON.parse(await upstream.printed("\n"));
  const options = ["--upstream", providers.upstream, "--upstream-key", "env:OPERATOR_KEY"];
  const defect = ["--mutation", "provider.own-key-in-error", "--mutation", "provider.own-key-in-header"];
  await using gateway = startGauntlet(["gateway", ...options, ...defect], { OPERATOR_KEY: key }, folder.path);
  const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
  writeFileSync(
    join(folder.path, "target.yaml"),
    `baseUrl: ${baseUrl}\nkeys: { valid: env:GW_KEY }\n${named({ controlUrl, controlToken })}\n`,
  );
  const environment = { GW_KEY: keys.valid, UPSTREAM_TOKEN: controlToken };
  const args = ["conform", "--target", "target.yaml", "--only", "upstream.failure", "--out", "run"];
  const { code, stdout, stderr } = await gauntlet(args, environment, folder.path);
  expect([code, stdout]).toEqual([1, expect.stringContaining("UPSTREAM-OWN-KEY")]);
  const texts = [stdout, stderr, ...filesBelow(join(folder.path, "run")).map(searchable)];
  for (const secret of [key, controlToken])
    for (const trace of tracesOf(secret)) expect(texts.filter((text) => text.includes(trace))).toEqual([]);
});

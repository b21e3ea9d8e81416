import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

let gateway: Running;
let baseUrl: string;
let key: string;

beforeAll(async () => {
  gateway = startGauntlet(["gateway", "--limits", "6000:256"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  [baseUrl, key] = [ready.baseUrl, ready.keys.valid];
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A target file with one key and one model, and what follows. */
const oneKey = (more = "") => `# ours
name: "one key"
baseUrl: ${baseUrl}
keys:
  valid: env:GW_KEY # of staging
models:
  chat: echo-fast
${more}`;

test("with one key, one reason says how much passed, what is lacking, and how to accept that", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "gauntlet.yaml"), oneKey());
  const run = ["conform", "auth", "errors", "retry-after", "--quick", "--target", "gauntlet.yaml"];
  const before = await gauntlet([...run, "--out", "a"], { GW_KEY: key }, folder.path);
  expect(before.code).toBe(4);
  expect(before.stdout).toMatch(
    /^INCONCLUSIVE: one key [^\n]*\n {2}\d+ of \d+ check instances that can run passed; \d+ others need keys, models or accounts that the target file does not name\. Run `gauntlet doctor` to list them, or `gauntlet init --accept-gaps`/m,
  );
  expect(before.stdout).not.toMatch(/^ {2}blocked: /m);
  // What to add is one block of YAML, each section once.
  expect(before.stdout.match(/^limited:/gm)?.length ?? 0).toBeLessThan(2);
  expect(before.stdout).not.toMatch(/^# \w+:/m);

  const job = ["init", "--ci", "gitlab", "--ci-only", "--yes", "--force"];
  expect((await gauntlet(job, {}, folder.path)).stdout).toContain("With one key only");
  const accepted = await gauntlet(["init", "--accept-gaps"], { GW_KEY: key }, folder.path);
  expect(accepted.code).toBe(0);
  // Nothing is lacking any more.
  expect((await gauntlet(job, {}, folder.path)).stdout).not.toContain("With one key only");
  expect(accepted.stdout).toMatch(/^accepted \d+ gaps in gauntlet\.yaml, under skip: key\.revoked, /);
  const text = readFileSync(join(folder.path, "gauntlet.yaml"), "utf8");
  expect(text.startsWith(oneKey())).toBe(true);
  expect(text).toMatch(/^skip:\n {2}key\.revoked: not available; accepted on \d{4}-\d\d-\d\d\n/m);

  const after = await gauntlet([...run, "--out", "b"], { GW_KEY: key }, folder.path);
  expect(after.stdout).toMatch(
    /^PASS: one key [^\n]*\(partial: \d+ declared gaps: key\.revoked, [^\n]* and \d+ more; quick/m,
  );
  expect(after.code).toBe(0);

  const again = await gauntlet(["init", "--accept-gaps"], { GW_KEY: key }, folder.path);
  expect(again.stdout).toBe("gauntlet.yaml has no gaps to accept\n");
  expect(readFileSync(join(folder.path, "gauntlet.yaml"), "utf8")).toBe(text);
});

test("a target file in JSON stays one", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "own.json");
  writeFileSync(file, JSON.stringify({ baseUrl, keys: { valid: "env:GW_KEY" }, models: { chat: "echo-fast" } }));
  const accepted = await gauntlet(["init", "--accept-gaps", "--target", "own.json"], { GW_KEY: key }, folder.path);
  expect(accepted.stdout).toMatch(/^accepted \d+ gaps in own\.json/);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    baseUrl,
    skip: { "key.revoked": expect.any(String) },
  });
});

test("what exists in one dialect is not a gap, and existing reasons stay", async () => {
  using folder = temporaryFolder();
  const models = "  tools: { chat: tool-caller }\nskip:\n  key.revoked: we cannot revoke\n";
  writeFileSync(join(folder.path, "own.yaml"), oneKey(models));
  const { stdout } = await gauntlet(["init", "--accept-gaps", "--target", "own.yaml"], { GW_KEY: key }, folder.path);
  expect(stdout).toMatch(/^not accepted: model\.tools exists in one dialect only\./m);
  const text = readFileSync(join(folder.path, "own.yaml"), "utf8");
  expect(text).toContain("  key.revoked: we cannot revoke\n");
  expect(text).not.toContain("model.tools:");
});

// real-time: sends load, and judges how much of it was served in time
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { instancesOf, suiteOf } from "../../../src/checks/index.ts";
import { isQuick } from "../../../src/run/suites/own-suites.ts";
import { CHECKS, QUICK_INSTANCES } from "../../../suites/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const INSTANCES = CHECKS.flatMap(instancesOf);
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const MEASURED = JSON.parse(read("docs/internal/measured/quick.json"));

test("a quick run passes a conformant gateway, says that it is one, and stays below its maximum of requests", async () => {
  using folder = temporaryFolder();
  const { code, stdout } = await gauntlet(
    ["conform", "--target", "embedded", "--quick", "--out", "q"],
    {},
    folder.path,
  );
  // The embedded gateway declares an upstream that checks can read, one address, and no limit on tokens.
  const requested = INSTANCES.filter(({ check }) => !["token-limits", "replicas"].includes(suiteOf(check.id)));
  expect(stdout).toMatch(
    new RegExp(`^PASS: .* \\(quick: ${QUICK_INSTANCES.length} of ${requested.length} check instances\\)$`, "m"),
  );
  expect(code).toBe(0);
  const record = JSON.parse(readFileSync(join(folder.path, "q", "run.json"), "utf8"));
  expect(record.traffic.requests).toBeLessThanOrEqual(820);
});

test("a quick run fails a gateway with a defect", async () => {
  using folder = temporaryFolder();
  const mutation = ["--mutation", "auth.messages-with-any-key"];
  const { code } = await gauntlet(
    ["conform", "--target", "embedded", "--quick", ...mutation, "--out", "q"],
    {},
    folder.path,
  );
  expect(code).toBe(1);
});

test("a quick run without any of the selected checks is an error, not a pass", async () => {
  using folder = temporaryFolder();
  const { code, stderr } = await gauntlet(
    ["conform", "--target", "embedded", "--quick", "--only", "retry-after.sufficient"],
    {},
    folder.path,
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining("Omit --quick")]);
});

test("every instance that was chosen exists", () => {
  expect(INSTANCES.filter(isQuick).map(({ id }) => id)).toEqual([...QUICK_INSTANCES]);
});

test("the guide says what was measured", () => {
  const { checks, requests, seconds, found, mutations, variants, blamed } = MEASURED;
  expect([checks, blamed]).toEqual([QUICK_INSTANCES.length, 0]);
  const share = ((found / mutations) * 100).toFixed(1);
  const text = read("docs/guide.md").replace(/\s+/g, " ");
  expect(text).toContain(`${checks} check instances, using ${requests} requests in ${seconds} s`);
  expect(text).toContain(
    `${found} of a sample of ${mutations} deliberate defects (${share} %), and raised no false alarm on any of ${variants} *variants*`,
  );
});

// real-time: checks fill the limits of a minute and wait for Retry-After
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const EXAMPLES = join(ROOT, "docs", "examples");

/** A folder with the documented target file and provisioner, in front of a running gateway. */
async function setUp(path: string, more = "", command = "node provision.mjs") {
  const gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  writeFileSync(join(path, "ready.json"), JSON.stringify(ready));
  copyFileSync(join(EXAMPLES, "provision.mjs"), join(path, "provision.mjs"));
  const target = readFileSync(join(EXAMPLES, "hooked.yaml"), "utf8")
    .replace("http://127.0.0.1:8080/v1", ready.baseUrl)
    .replace("node provision.mjs", command);
  writeFileSync(join(path, "gauntlet.yaml"), target + more);
  const run = (...args: string[]) =>
    gauntlet(
      ["conform", "--target", "gauntlet.yaml", "--out", "run", ...args],
      { GW_KEY: ready.keys.valid, READY: join(path, "ready.json") },
      path,
    );
  return { gateway, run };
}

describe("the documented provisioning hook", () => {
  test("makes states, blocks unknown ones, and lists what it leaves behind", async () => {
    using folder = temporaryFolder();
    const { gateway, run } = await setUp(folder.path);
    await using _gateway = gateway;
    const only = ["auth.revoked[chat]", "spending.budget-denied", "errors.insufficient-credits[chat,non-streaming]"];
    const { code, stdout } = await run("--json", ...only.flatMap((id) => ["--only", id]));
    const { checks } = JSON.parse(stdout);
    expect(Object.fromEntries(checks.map(({ id, status }: { id: string; status: string }) => [id, status]))).toEqual({
      "auth.revoked[chat]": "pass",
      "spending.budget-denied": "pass",
      "errors.insufficient-credits[chat,non-streaming]": "blocked",
    });
    expect(code).toBe(4);
    const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
    expect(record.checks[0].attestations).toContainEqual({ state: "key.revoked", by: "hook" });
    expect(record.leftovers).toEqual([
      expect.stringMatching(/hook created and did not revoke: \d+ × key\.childSmall, key\.revoked/),
      expect.stringMatching(/requests may have been billed/),
    ]);
  });

  test("that removes what it made leaves no keys behind", async () => {
    using folder = temporaryFolder();
    const { gateway, run } = await setUp(folder.path);
    await using _gateway = gateway;
    const file = join(folder.path, "provision.mjs");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("if (release) {", "if (release) {\n  console.log(runId);\n  process.exit(0);"),
    );
    await run("--only", "auth.revoked[chat]");
    const { leftovers } = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
    expect(leftovers).toEqual([expect.stringMatching(/requests may have been billed/)]);
  });

  test.each<[what: string, command: string, says: RegExp]>([
    ["ends badly", 'echo \'{"key":"sk-canary-123456"}\'; echo no such tenant >&2; exit 1', /exit 1.*no such tenant/],
    ["prints no key", "echo sk-canary-123456", /It must print \{"key"/],
    ["does not exist", "./no-such-hook.sh", /exit 127/],
    ["takes too long", "sleep 60", /ran longer than 0\.2 s/],
  ])("that %s stops the run with exit code 2, and its output is not shown", async (what, command, says) => {
    using folder = temporaryFolder();
    const timeout = what === "takes too long" ? "  timeoutS: 0.2\n" : "";
    const { gateway, run } = await setUp(folder.path, timeout, JSON.stringify(command));
    await using _gateway = gateway;
    const { code, stderr, stdout } = await run("--only", "auth.revoked[chat]");
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/gauntlet\.yaml.*provision\.command.*"key\.revoked"/);
    expect(stdout + stderr).not.toContain("canary");
    expect(code).toBe(2);
  });

  test("a gap that is declared for an unknown state is rejected, with a suggestion", async () => {
    using folder = temporaryFolder();
    const { gateway, run } = await setUp(folder.path, "skip: { key.revokd: none here }\n");
    await using _gateway = gateway;
    const { code, stderr } = await run();
    expect(stderr).toMatch(/gauntlet\.yaml:\d+:\d+ .*unknown field "key\.revokd"\. Did you mean "key\.revoked"\?/);
    expect(code).toBe(2);
  });
});

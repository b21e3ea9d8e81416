import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../src/reference-gateway/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

const POLICY = "gates: ['checks{status=fail} == 0']\n";

describe("a command that decides says which gateway it judged", () => {
  test("gauntlet.yaml of the folder is the target, and the verdict names it with its address", async () => {
    using folder = temporaryFolder();
    await using gateway = await startGateway({});
    writeFileSync(
      join(folder.path, "gauntlet.yaml"),
      `name: ours\nbaseUrl: ${gateway.ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\n`,
    );
    for (const more of [[], ["--json"]]) {
      const { stdout, code } = await gauntlet(
        ["conform", "models", ...more],
        { K: gateway.ready.keys.valid },
        folder.path,
      );
      expect(stdout).toContain(`PASS: ours at ${gateway.ready.baseUrl}`);
      expect(code).toBe(0);
    }
    const loaded = await gauntlet(["load", "starter", "--dry-run"], { K: gateway.ready.keys.valid }, folder.path);
    expect(loaded.stdout + loaded.stderr).toMatch(/no account is known for starter/);
  });

  test.each<[what: string, args: string[], env: Record<string, string>]>([
    ["--json", ["conform", "models", "--json"], {}],
    ["--policy", ["conform", "models", "--policy", "p.yaml"], {}],
    ["CI", ["conform", "models"], { CI: "true" }],
    ["run in CI", ["run", "--quick"], { CI: "1" }],
    ["load in CI", ["load", "peak"], { CI: "true" }],
    ["limits in CI", ["limits"], { CI: "true" }],
    ["capacity with --json", ["capacity", "--objective", "failed < 1%", "--json"], {}],
  ])("without a target, %s is a usage error", async (_what, args, env) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "p.yaml"), POLICY);
    const { code, stderr } = await gauntlet(args, env, folder.path);
    expect(stderr).toMatch(/no target is named, and there is no gauntlet\.yaml here[\s\S]*--target embedded/);
    expect(code).toBe(2);
  });

  test("named, the embedded gateway is judged in CI as well; at a terminal it is said", async () => {
    using folder = temporaryFolder();
    const ci = await gauntlet(["conform", "models", "--target", "embedded"], { CI: "true" }, folder.path);
    expect(ci.stdout).toMatch(/^PASS: embedded reference gateway at http:\/\/127\.0\.0\.1:\d+\/v1$/m);
    expect(ci.code).toBe(0);
    const terminal = await gauntlet(["conform", "models"], {}, folder.path);
    expect(terminal.stderr).toContain("no --target and no gauntlet.yaml here: the embedded reference gateway");
    expect(terminal.code).toBe(0);
  });

  test("mutations of the embedded gateway do not go with another target", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
    const { code, stderr } = await gauntlet(
      ["conform", "models", "--target", "t.yaml", "--mutation", "auth.messages-with-any-key"],
      { K: "k" },
      folder.path,
    );
    expect(stderr).toContain("--mutation and --variant change the embedded gateway, and the target is t.yaml");
    expect(code).toBe(2);
  });
});

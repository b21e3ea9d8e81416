import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { gauntlet, MAIN, temporaryFolder } from "../../support/gauntlet.ts";

const POLICY = "gates: ['checks{status=fail} == 0']\n";

describe("a command with a verdict says which gateway it judged", () => {
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
    ...[
      "conform",
      "run",
      "load peak",
      "limits",
      "capacity --objective failed<1%",
      "size peak --verify",
      "k6 export peak --out x",
    ].map((line): [string, string[], Record<string, string>] => [`${line} without a terminal`, line.split(" "), {}]),
  ])("without a target, %s is a usage error", async (_what, args, env) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "p.yaml"), POLICY);
    const { code, stderr } = await gauntlet(args, env, folder.path);
    expect(stderr).toMatch(/no target is named, and there is no gauntlet\.yaml here[\s\S]*--target embedded/);
    expect(code).toBe(2);
  });

  test("if it is named, the embedded gateway is judged in CI as well", async () => {
    using folder = temporaryFolder();
    const ci = await gauntlet(["conform", "models", "--target", "embedded"], { CI: "true" }, folder.path);
    expect(ci.stdout).toMatch(/^PASS: embedded reference gateway at http:\/\/127\.0\.0\.1:\d+\/v1$/m);
    expect(ci.code).toBe(0);
  });

  test.skipIf(process.platform !== "linux")(
    "at a terminal, the embedded gateway is the default, and the output says so",
    () => {
      using folder = temporaryFolder();
      const command = `${process.execPath} ${MAIN} conform models`;
      const { stdout, status } = spawnSync("script", ["-qec", command, "/dev/null"], {
        cwd: folder.path,
        env: { ...process.env, CI: "" },
        encoding: "utf8",
      });
      expect(stdout.replace(/\s+/g, " ")).toContain("the embedded reference gateway is the target");
      expect(status).toBe(0);
    },
  );

  test("mutations of the embedded gateway cannot be combined with another target", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
    const { code, stderr } = await gauntlet(
      ["conform", "models", "--target", "t.yaml", "--mutation", "auth.messages-with-any-key"],
      { K: "k" },
      folder.path,
    );
    expect(stderr).toContain("--mutation and --variant change the embedded gateway, but the target is t.yaml");
    expect(code).toBe(2);
  });
});

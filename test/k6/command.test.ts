import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CONFIG_MAP_BYTES } from "../../src/engines/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

describe("without k6", () => {
  test("load says how to install it, and exits with 2 before it starts anything", async () => {
    using folder = temporaryFolder();
    const nowhere = { PATH: folder.path, K6_PATH: "" };
    const { code, stderr } = await gauntlet(
      ["load", "--target", "embedded", "starter", "--engine", "k6"],
      nowhere,
      folder.path,
    );
    expect(code).toBe(2);
    expect(stderr).toContain("k6 is not installed");
    expect(stderr).toContain("go install go.k6.io/k6@v1.8.1");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("an invalid path is named", async () => {
    const { code, stderr } = await gauntlet([
      "load",
      "--target",
      "embedded",
      "starter",
      "--engine",
      "k6",
      "--k6",
      "/no/such/k6",
    ]);
    expect([code, stderr.includes("no k6 found at /no/such/k6")]).toEqual([2, true]);
  });

  test("it cannot run closed loops", async () => {
    using folder = temporaryFolder();
    const target = join(folder.path, "gauntlet.yaml");
    writeFileSync(
      target,
      "name: t\nbaseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:SOME_KEY }\nmodels: { chat: m }\n",
    );
    const args = ["k6", "export", "peak", "--target", target, "--out", join(folder.path, "out")];
    const { code, stderr } = await gauntlet(args, { SOME_KEY: "sk-some-key-0123456789" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("it is a closed loop")]);
  });

  test("--instances without k6 is a mistake of the command line", async () => {
    const { code, stderr } = await gauntlet(["load", "--target", "embedded", "starter", "--instances", "3"]);
    expect([code, stderr.includes("--instances is for k6")]).toEqual([2, true]);
  });

  test("plan takes the published figures", async () => {
    const args = ["k6", "plan", "--rate", "1000000", "--in-flight", "100000", "--no-measure", "--json"];
    const { code, stdout } = await gauntlet(args);
    const fleet = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(fleet.instances).toBeGreaterThanOrEqual(fleet.needs.connections);
    expect(fleet.instances).toBe(Math.max(fleet.needs.processor, fleet.needs.memory, fleet.needs.connections));
    expect(fleet.perInstance.ratePerS * fleet.instances).toBeCloseTo(1_000_000 / 60, 6);
  });
});

const CANARY = "ck-canary-0123456789-abcdefghijkl";
const SECRET_HEADER = "ch-header-9876543210-zyxwvutsrqpo";

/** The fields of a TestRun that we use, according to the operator's documentation. */
function problemsOf(run: {
  apiVersion: unknown;
  kind: unknown;
  metadata: { name: string };
  spec: Record<string, unknown> & { runner: Record<string, unknown>; script: unknown };
}): string[] {
  const problems: string[] = [];
  if (run.apiVersion !== "k6.io/v1alpha1" || run.kind !== "TestRun") problems.push("not a TestRun");
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(run.metadata.name)) problems.push("name");
  const known = ["parallelism", "script", "arguments", "runner"];
  problems.push(...Object.keys(run.spec).filter((field) => !known.includes(field)));
  const ofRunner = ["image", "resources", "env", "volumes", "volumeMounts"];
  problems.push(...Object.keys(run.spec.runner).filter((field) => !ofRunner.includes(field)));
  if (!Number.isInteger(run.spec["parallelism"])) problems.push("parallelism");
  if (typeof run.spec["arguments"] !== "string") problems.push("arguments");
  return problems;
}

describe("an exported folder", () => {
  test.each([["opentelemetry"], ["prometheus"]])(
    "has scripts, plan, manifests and a README, but no key (%s)",
    async (output) => {
      using folder = temporaryFolder();
      const target = join(folder.path, "gauntlet.yaml");
      writeFileSync(
        target,
        `name: t
baseUrl: http://127.0.0.1:1/v1
keys: { valid: env:SOME_KEY, second: env:OTHER_KEY }
models: { chat: m, stream: s }
limits: starter
extraHeaders: { all: { X-Tenant: env:TENANT, X-Plain: visible } }
`,
      );
      const out = join(folder.path, "out");
      const args = ["k6", "export", "starter", "--target", target, "--instances", "3", "--output", output];
      const keys = { SOME_KEY: CANARY, OTHER_KEY: `${CANARY}-2`, TENANT: SECRET_HEADER };
      const done = await gauntlet([...args, "--out", out], { ...keys, PATH: folder.path, K6_PATH: "" });
      expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining("archive.tar was not made") });
      const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));
      expect(files).toEqual(expect.arrayContaining(["gauntlet.ts", "plan.json", "README.md"]));
      for (const file of files) {
        const text = readFileSync(join(out, file), "utf8");
        for (const secret of [CANARY, SECRET_HEADER]) expect(text.includes(secret), `${file} holds a key`).toBe(false);
      }
      expect(readFileSync(join(out, "plan.json"), "utf8")).toContain("visible");
      const read = (name: string) => parse(readFileSync(join(out, "kubernetes", name), "utf8"));
      const run = read("testrun.yaml");
      expect(problemsOf(run)).toEqual([]);
      const config = read("configmap.yaml");
      expect(run.spec.script.configMap).toEqual({ name: config.metadata.name, file: "gauntlet.ts" });
      expect(run.spec.parallelism).toBe(3);
      expect(JSON.stringify(config).length).toBeLessThan(CONFIG_MAP_BYTES);
      // The ConfigMap contains what the folder contains, including every import of the scripts.
      for (const [name, text] of Object.entries<string>(config.data)) {
        expect(readFileSync(join(out, name), "utf8")).toBe(text);
        for (const [, imported] of text.matchAll(/from "\.\/([\w.-]+)"/g))
          expect(existsSync(join(out, imported ?? ""))).toBe(true);
      }
      const secret = read("secret.example.yaml");
      const referred = run.spec.runner.env.flatMap(
        (one: { valueFrom?: { secretKeyRef?: { name: string; key: string } } }) =>
          one.valueFrom?.secretKeyRef === undefined ? [] : [one.valueFrom.secretKeyRef],
      );
      expect(referred.map(({ key }: { key: string }) => key)).toEqual([
        "GAUNTLET_KEY",
        "GAUNTLET_KEY_2",
        "GAUNTLET_HEADER_1",
      ]);
      expect(Object.keys(secret.stringData)).toEqual(referred.map(({ key }: { key: string }) => key));
      expect(new Set(referred.map(({ name }: { name: string }) => name))).toEqual(new Set([secret.metadata.name]));
    },
  );
});

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const ADDRESSES = [
  "http://user:hunter2@127.0.0.1:9/v1",
  "http://hunter2@127.0.0.1:9/v1",
  "http://127.0.0.1:9/v1?key=hunter2",
  "http://127.0.0.1:9/v1#hunter2",
];
const GOOD = "http://127.0.0.1:9/v1";

/** Every option and field that takes an address. */
const PLACES: readonly [
  what: string,
  args: (address: string) => readonly string[],
  target?: (address: string) => string,
][] = [
  [
    "baseUrl",
    () => ["conform", "models", "--target", "t.yaml"],
    (address) => `baseUrl: "${address}"\nkeys: { valid: env:K }\n`,
  ],
  [
    "upstream.controlUrl",
    () => ["conform", "models", "--target", "t.yaml"],
    (address) => `baseUrl: ${GOOD}\nkeys: { valid: env:K }\nupstream: { controlUrl: "${address}", token: env:K }\n`,
  ],
  ["init --base-url", (address) => ["init", "--yes", "--base-url", address]],
  ["load --otlp", (address) => ["load", "peak", "--engine", "native", "--target", "t.yaml", "--otlp", address]],
  [
    "load --time-source",
    (address) => [
      "load",
      "stress",
      "--target",
      "t.yaml",
      "--shard",
      "1/2",
      "--start-at",
      String(Math.ceil(Date.now() / 1_000) + 600),
      "--time-source",
      address,
    ],
  ],
  ["overhead --upstream", (address) => ["overhead", "--target", "t.yaml", "--upstream", address, "--anyway"]],
  ["gateway --upstream", (address) => ["gateway", "--upstream", address]],
];

test.concurrent.each(PLACES)(
  "%s rejects an address with a secret, and does not repeat it",
  async (_what, args, target) => {
    for (const address of ADDRESSES) {
      using folder = temporaryFolder();
      const written = target?.(address) ?? `baseUrl: ${GOOD}\nkeys: { valid: env:K }\nmodels: { chat: m }\n`;
      writeFileSync(join(folder.path, "t.yaml"), written);
      const { code, stdout, stderr } = await gauntlet(args(address), { K: "k-0123456789" }, folder.path);
      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(/user/);
      expect(stdout + stderr).not.toContain("hunter2");
      expect(existsSync(join(folder.path, "gauntlet-runs"))).toBe(false);
    }
  },
);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canaryKey, filesBelow, tracesOf } from "../support/canary.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { searchable } from "../support/run-files.ts";

test("SEC-1: no key, complete, partial or encoded, is printed or written, even if the gateway repeats it", async () => {
  using folder = temporaryFolder();
  const names = [
    "valid",
    "second",
    "revoked",
    "capped",
    "cappable",
    "childExhausted",
    "childSmall",
    "empty",
    "emptySecond",
    "other",
  ];
  const keys = Object.fromEntries(names.map((name) => [name, canaryKey(name)]));
  const keyFile = join(folder.path, "gateway-keys.json");
  writeFileSync(keyFile, JSON.stringify(keys));
  await using gateway = startGauntlet([
    "gateway",
    "--keys",
    keyFile,
    "--mutation",
    "security.key-in-reply",
    "--mutation",
    "security.key-encoded-in-header",
  ]);
  const ready = JSON.parse(await gateway.printed("\n"));
  expect(ready.keys).toMatchObject(keys);
  const lines = names.map((name) => `  ${name}: env:CANARY_${name}`).join("\n");
  const models = Object.entries(ready.models)
    .map(([role, id]) => `  ${role}: ${id}`)
    .join("\n");
  const target = join(folder.path, "gauntlet.yaml");
  writeFileSync(
    target,
    `baseUrl: ${ready.baseUrl}\nkeys:\n${lines}\nmodels:\n${models}\nlimits: { rpm: 6000, inFlight: 256 }\n`,
  );
  const environment = Object.fromEntries(names.map((name) => [`CANARY_${name}`, canaryKey(name)]));
  const suites = [
    "service",
    "auth",
    "models",
    "chat",
    "messages",
    "errors",
    "security",
    "robustness",
    "spending",
    "compat",
  ];
  const outputs: string[] = [];
  const run = join(folder.path, "run");
  for (const args of [
    ["conform", ...suites, "--target", target, "--out", run],
    ["conform", "auth", "--target", target, "--json", "--out", join(folder.path, "second")],
    ["rejudge", run],
    ["conform", "--target", target, "--out", run],
  ]) {
    const { stdout, stderr } = await gauntlet(args, environment, folder.path);
    outputs.push(stdout, stderr);
  }
  expect(outputs[0]).toContain("SEC-3");
  for (const path of filesBelow(folder.path).filter((path) => path !== keyFile))
    outputs.push(searchable(path).toString("utf8"));
  const all = outputs.join("\n");
  expect(all.length).toBeGreaterThan(100_000);
  const found = names.flatMap((name) =>
    tracesOf(canaryKey(name))
      .filter((trace) => all.includes(trace))
      .map((trace) => `${name}: ${trace}`),
  );
  expect(found).toEqual([]);
}, 180_000);

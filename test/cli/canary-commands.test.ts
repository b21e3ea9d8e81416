import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { filesBelow, tracesOf } from "../support/canary.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const NAMES = ["valid", "second", "revoked", "empty", "other"];
const canary = (name: string) => `ck-${name}-${Buffer.from(name.padEnd(18, "~")).toString("hex").slice(0, 30)}Zq9`;
const LOAD =
  "name: small\narrivals: { kind: constant, ratePerS: 30, durationS: 1 }\nmix: [{ dialect: chat }, { dialect: chat, stream: true }]\n";

/** Every command, in ways that work and in ways that do not. The gateway repeats keys in replies and headers. */
const COMMANDS: readonly (readonly string[])[] = [
  ["load", "small.yaml", "--target", "gauntlet.yaml", "--out", "load"],
  ["load", "small.yaml", "--target", "gauntlet.yaml", "--workers", "2", "--json", "--out", "workers"],
  ["load", "small.yaml", "--target", "gauntlet.yaml", "--dry-run"],
  ["load", "closed.yaml", "--target", "gauntlet.yaml", "--out", "closed"],
  ["limits", "--target", "gauntlet.yaml", "--budget-requests", "20", "--minutes", "0.05"],
  [
    "capacity",
    "--target",
    "gauntlet.yaml",
    "--objective",
    "failed < 1%",
    "--from",
    "5",
    "--to",
    "9",
    "--step-s",
    "1",
    "--minutes",
    "0.05",
  ],
  ["doctor", "--target", "gauntlet.yaml"],
  ["doctor", "--target", "gauntlet.yaml", "--json"],
  ["conform", "security", "chat", "--target", "gauntlet.yaml", "--out", "run"],
  ["conform", "models", "--target", "gauntlet.yaml", "--policy", "policy.yaml", "--out", "gated"],
  ["conform", "auth", "--target", "gauntlet.yaml", "--dry-run"],
  ["report", "run", "--format", "html", "--format", "sarif", "--format", "events", "--format", "openmetrics"],
  ["report", "load", "--print", "json"],
  ["rejudge", "run"],
  ["waivers", "suggest", "run"],
  ["k6", "export", "small.yaml", "--target", "gauntlet.yaml", "--out", "exported"],
  ["size", "small.yaml", "--target", "gauntlet.yaml"],
  ["compare", "run", "gated", "--out", "compared"],
  // What fails.
  ["conform", "--target", "nowhere.yaml"],
  ["conform", "--target", "unreadable.yaml"],
  ["conform", "auth", "--target", "hooked.yaml"],
  ["conform", "--target", "pasted.yaml"],
  ["doctor", "--target", "wrong-key.yaml"],
  ["gateway", "--keys", "keys-cut.json"],
  ["rejudge", "nothing"],
];

test("SEC-1: no command shows a key, whether it works or fails", async () => {
  using folder = temporaryFolder();
  const keyFile = join(folder.path, "keys.json");
  writeFileSync(keyFile, JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, canary(name)]))));
  await using gateway = startGauntlet([
    "gateway",
    "--keys",
    keyFile,
    "--fault",
    "security.key-in-reply",
    "--fault",
    "security.key-encoded-in-header",
  ]);
  const { baseUrl } = JSON.parse(await gateway.printed("\n"));
  const keys = NAMES.map((name) => `  ${name}: env:CANARY_${name}`).join("\n");
  const target = `keys:\n${keys}\nmodels: { chat: echo-fast }\nlimits: { rpm: 6000, inFlight: 64 }\n`;
  const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
  write("gauntlet.yaml", `baseUrl: ${baseUrl}\n${target}`);
  write("nowhere.yaml", `baseUrl: http://127.0.0.1:9/v1\n${target}`);
  write("unreadable.yaml", `baseUrl: ${baseUrl}\nkeys:\n  valid: [*x\n  ${canary("valid")}\n`);
  write("pasted.yaml", `baseUrl: ${baseUrl}\nkeys: { valid: ${canary("valid")}, ${canary("second")}: 1 }\n`);
  write("wrong-key.yaml", `baseUrl: ${baseUrl}\nkeys: { valid: env:CANARY_revoked, second: env:CANARY_empty }\n`);
  // A hook that complains with the key in its mouth.
  write(
    "hook.mjs",
    `console.error("cannot: ${canary("other")}"); console.log('{"key": "${canary("other")}"'); process.exit(1);`,
  );
  write(
    "hooked.yaml",
    `baseUrl: ${baseUrl}\nkeys: { valid: env:CANARY_valid, other: env:CANARY_other }\nprovision: { command: "node hook.mjs" }\n`,
  );
  write("keys-cut.json", `{"valid": ${canary("valid")}`);
  write("small.yaml", LOAD);
  write("closed.yaml", "name: closed\nengine: autocannon\narrivals: { kind: closed, inFlight: 2, durationS: 1 }\n");
  write("policy.yaml", "require: { suites: [models] }\n");
  const sources = ["keys.json", "unreadable.yaml", "pasted.yaml", "hook.mjs", "keys-cut.json"].map((name) =>
    join(folder.path, name),
  );
  const environment = Object.fromEntries(NAMES.map((name) => [`CANARY_${name}`, canary(name)]));
  const outputs: string[] = [];
  const codes: (number | null)[] = [];
  for (const args of COMMANDS) {
    const { code, stdout, stderr } = await gauntlet(args, environment, folder.path);
    codes.push(code);
    outputs.push(stdout, stderr);
  }
  // An error that nobody foresaw, with a key in its text.
  write(
    "broken.mjs",
    `throw new Error("cannot parse ${canary("valid")}", { cause: new Error("${canary("second")}") });`,
  );
  const crashed = await gauntlet(
    ["conform", "--suite", "broken.mjs", "--target", "gauntlet.yaml"],
    environment,
    folder.path,
  );
  outputs.push(crashed.stdout, crashed.stderr);
  const files = filesBelow(folder.path).filter((path) => !sources.includes(path) && !path.endsWith("broken.mjs"));
  for (const path of files) outputs.push(readFileSync(path, "latin1"));
  const all = outputs.join("\n");
  const found = NAMES.flatMap((name) =>
    tracesOf(canary(name))
      .filter((trace) => all.includes(trace))
      .map((trace) => `${name}: ${trace}`),
  );
  expect(found).toEqual([]);
  expect(codes.filter((code) => code === null || code === 5)).toEqual([]);
  console.log(
    `canary: ${COMMANDS.length + 1} commands, ${files.length} files, ${Math.round(all.length / 1024)} KiB searched, 0 of ${NAMES.length} keys found`,
  );
}, 180_000);

test("an error outside every command ends with 5, and its text is masked", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "crash.mjs");
  const out = join(folder.path, "run");
  // Thrown in a timer, as by a library: nobody catches it. The embedded gateway is not meant.
  writeFileSync(
    file,
    `import { existsSync } from "node:fs";
if (process.argv.includes("conform"))
  setInterval(() => {
    if (existsSync(${JSON.stringify(join(out, "journal.ndjson"))})) throw new Error("bad value ${canary("valid")}");
  }, 10);`,
  );
  const ran = await gauntlet(
    ["conform", "models", "streaming", "--out", out],
    { NODE_OPTIONS: `--import=${pathToFileURL(file).href}` },
    folder.path,
  );
  expect(ran.stderr).toContain("internal error: bad value [masked]");
  expect(ran.stderr).not.toContain(canary("valid").slice(0, 20));
  expect(ran.code).toBe(5);
});

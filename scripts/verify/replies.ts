/**
 * Runs every command and engine that sends load against gateways whose 2xx replies no client can use: all replies, one in five,
 * or all from the 101st on. Each of these runs must end with exit code 1, and the run against the conformant gateway must pass.
 *
 *     npm run build && npm run verify replies                      every cell, about 20 minutes
 *     npm run verify replies -- --only native                      one column
 *     npm run verify replies -- --write                            also the table in docs/evidence.md
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { findK6 } from "../../src/engines/index.ts";
import { type Gateway, startGateway } from "../../src/reference-gateway/index.ts";
import { startGauntlet } from "../../test/support/gauntlet.ts";
import {
  COLUMNS,
  type Column,
  KINDS,
  keptReplyEvidence,
  REPLY_EVIDENCE_FILE,
  type ReplyEvidence,
  STREAM_KINDS,
  WHEN,
} from "../docs/reply-evidence.ts";

const args = await yargs(process.argv.slice(2))
  .option("only", { choices: COLUMNS, array: true, describe: "Some of the columns" })
  .option("at-once", { type: "number", default: 4, describe: "Number of concurrent runs" })
  .option("match", { type: "string", default: "", describe: "Cells whose names match, as native.html-page-later" })
  .option("write", { type: "boolean", default: false, describe: "Save the results for docs/evidence.md" })
  .strict()
  .parseAsync();

const folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-replies-"));
const k6 = (() => {
  try {
    return findK6(undefined, process.env);
  } catch {
    // Without k6, its column stays empty and the output says so.
    return undefined;
  }
})();

const MIX = ["chat", "messages"].flatMap((dialect) =>
  [false, true].map((stream) => ({ dialect, stream, model: "echo-fast", promptTokens: 10 })),
);
const STEADY = { kind: "constant", ratePerS: 60, durationS: 5 };
const WORKLOADS = {
  native: { arrivals: STEADY, mix: MIX },
  k6: { engine: "k6", arrivals: STEADY, mix: MIX },
  autocannon: { engine: "autocannon", arrivals: { kind: "closed", inFlight: 4, durationS: 3 }, mix: MIX.slice(0, 1) },
  tier: { tier: { rpm: 120, inFlight: 8 } },
} as const;

/** Limits of the account. Only the tier run reaches them. */
const limitsOf = (column: Column) => (column === "tier" ? { rpm: 120, inFlight: 8 } : { rpm: 60_000, inFlight: 500 });

interface Target {
  readonly file: string;
  readonly env: Record<string, string>;
}

/** Writes the target file of a reference gateway. */
function targetOf(gateway: Gateway, name: string, column: Column): Target {
  const { baseUrl, keys, models } = gateway.ready;
  const file = join(folder, `${name}.target.json`);
  const variable = `KEY_${name.replace(/[^a-z]/g, "_").toUpperCase()}`;
  const target = {
    ...{ name, baseUrl, models, limits: limitsOf(column) },
    keys: { valid: `env:${variable}` },
    budget: { requests: 100_000 },
  };
  writeFileSync(file, JSON.stringify(target));
  return { file, env: { [variable]: String(keys["valid"]) } };
}

function workloadFile(name: string, content: object): string {
  const file = join(folder, `${name}.workload.json`);
  writeFileSync(file, JSON.stringify({ name: "replies", ...content }));
  return file;
}

async function codeOf(line: readonly string[], env: Record<string, string>): Promise<{ code: number; text: string }> {
  await using running = startGauntlet(line, { ...env, ...(k6 === undefined ? {} : { K6_PATH: k6 }) }, folder);
  const { code, stdout, stderr } = await running.finished;
  return { code: code ?? -1, text: stdout + stderr };
}

/** Runs a column's command against a gateway with these mutations. @returns its exit code and what it printed. */
async function run(
  column: Column,
  name: string,
  mutations: readonly string[],
): Promise<{ code: number; text: string }> {
  // The model for streams takes two seconds by default: too few of its replies would be left after the first hundred.
  const options = { limits: limitsOf(column), ...(column === "overhead" && { paceMs: 0 }) };
  await using gateway = await startGateway({ mutations, ...options });
  const { file, env } = targetOf(gateway, name, column);
  const target = ["--target", file];
  const out = ["--out", join(folder, name)];
  switch (column) {
    case "overhead": {
      await using upstream = await startGateway(options);
      const direct = targetOf(upstream, `${name}-direct`, column);
      const sizes = ["--concurrency", "1", "--prompt-bytes", "1000", "--rounds", "8", "--block-s", "0.3"];
      return await codeOf(
        ["overhead", ...target, "--direct", direct.file, "--no-frontier", "--anyway", ...sizes, ...out],
        { ...env, ...direct.env },
      );
    }
    case "capacity": {
      const objective = ["--objective", "response_ms p95 < 2000", "--from", "20", "--to", "30", "--step-s", "6"];
      const workload = workloadFile(name, WORKLOADS.native);
      return await codeOf(["capacity", ...target, "--workload", workload, ...objective, "--minutes", "2.5"], env);
    }
    case "size":
      return await codeOf(["size", workloadFile(name, WORKLOADS.native), "--verify", ...target], env);
    case "merge": {
      const workload = workloadFile(name, WORKLOADS.native);
      const startAt = String(Math.ceil(Date.now() / 1_000) + 5);
      const shards = ["1", "2"].map((index) => join(folder, `${name}-shard-${index}`));
      await Promise.all(
        shards.map((shard, index) =>
          codeOf(
            ["load", workload, ...target, "--shard", `${index + 1}/2`, "--start-at", startAt, "--out", shard],
            env,
          ),
        ),
      );
      return await codeOf(["merge", ...shards, ...out], env);
    }
    default:
      return await codeOf(["load", workloadFile(name, WORKLOADS[column]), ...target, ...out], env);
  }
}

interface Job {
  readonly column: Column;
  readonly kind: string;
  readonly when: string;
}

const columns = (args.only ?? COLUMNS).filter((column) => column !== "k6" || k6 !== undefined);
if (k6 === undefined) console.log("k6 was not found: skipping its column");
const jobs: Job[] = columns
  .flatMap((column) => [
    { column, kind: "sound", when: "" },
    ...KINDS.filter((kind) => column !== "autocannon" || !STREAM_KINDS.includes(kind)).flatMap((kind) =>
      WHEN.map((when) => ({ column, kind, when })),
    ),
  ])
  .filter(({ column, kind, when }) => new RegExp(args.match).test(`${column}.${kind}${when}`));
// Start the longest runs first, so that nothing waits for them at the end.
jobs.sort((a, b) => Number(b.column === "tier") - Number(a.column === "tier"));
const cells: Record<string, number> = {};
const wrong: string[] = [];
const total = jobs.length;
if (total === 0) throw new Error("no run matches: nothing would be verified");
console.log(`replies: ${total} runs, ${args.atOnce} concurrently`);
await Promise.all(
  Array.from({ length: args.atOnce }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const { column, kind, when } = job;
      const name = `${column}.${kind}${when}`;
      const { code, text } = await run(column, name, kind === "sound" ? [] : [`reply.${kind}${when}`]);
      cells[name] = code;
      const expected = kind === "sound" ? 0 : 1;
      if (code === expected) continue;
      wrong.push(name);
      console.log(`${name}: expected exit code ${expected}, got ${code}\n${text.split("\n").slice(-12).join("\n")}`);
    }
  }),
);
if (args.write) {
  // With --only the other columns stay as they were.
  const evidence: ReplyEvidence = { cells: { ...keptReplyEvidence().cells, ...cells } };
  writeFileSync(REPLY_EVIDENCE_FILE, `${JSON.stringify(evidence, null, 2)}\n`);
}
if (wrong.length === 0) rmSync(folder, { recursive: true, force: true });
console.log(
  `verify replies: ${total - wrong.length} of ${total} runs as expected${wrong.length === 0 ? "" : `; unexpected: ${wrong.join(", ")}`}`,
);
process.exit(wrong.length === 0 ? 0 : 1);

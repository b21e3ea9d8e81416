/**
 * Runs a tier against the reference gateway once per fault or variant and appends one JSON line each:
 *
 *     tsx test/prove/load-matrix.ts faults|variants OUT.jsonl [--concurrency 6] [--only REGEX] [--brief]
 *
 * Names that OUT already holds are skipped.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import yargs from "yargs";
import { sleep } from "../../src/core/index.ts";
import { FAULTS, VARIANTS } from "../../src/gateway/index.ts";
import { brokenIn, loadGateway } from "./load-gateway.ts";

const args = await yargs(process.argv.slice(2))
  .command("$0 <kind> <out>", "run a tier per fault or variant", (y) =>
    y
      .positional("kind", { choices: ["faults", "variants"] as const, demandOption: true })
      .positional("out", { type: "string", demandOption: true }),
  )
  .option("concurrency", { type: "number", default: 6 })
  .option("only", { type: "string", default: "" })
  .option("brief", { type: "boolean", default: false })
  .strict()
  .parseAsync();
const { kind, out } = args as unknown as { kind: "faults" | "variants"; out: string };
const done = new Set(
  existsSync(out)
    ? readFileSync(out, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { name: string }).name)
    : [],
);
const queue = (kind === "faults" ? FAULTS : VARIANTS)
  .map(({ name }) => name)
  .filter((name) => new RegExp(args.only).test(name) && !done.has(name));

async function work(): Promise<void> {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const startedMs = Date.now();
    const outcome = await loadGateway({ [kind]: [name], length: args.brief ? "brief" : "thorough" }).then(
      (run) => ({
        verdict: run.verdict,
        broken: brokenIn(run),
        reasons: run.reasons,
        phases: run.phases.map(({ name: phase, verdict, message }) => `${phase} ${verdict}: ${message}`),
      }),
      (error: unknown) => ({ error: String(error) }),
    );
    appendFileSync(out, `${JSON.stringify({ name, s: Math.round((Date.now() - startedMs) / 1_000), ...outcome })}\n`);
  }
}

// Staggered: full houses that begin together would starve each other in one process.
await Promise.all(
  Array.from({ length: args.concurrency }, async (_, index) => {
    await sleep(index * 9_000);
    await work();
  }),
);
process.exit(0);

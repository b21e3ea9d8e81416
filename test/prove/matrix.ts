/**
 * Judges the reference gateway once per fault or variant and appends one JSON line each:
 *
 *     tsx test/prove/matrix.ts faults|variants OUT.jsonl [--concurrency 4] [--part 0/2] [--only REGEX] [--areas a,b]
 *
 * Names that OUT already holds are skipped, so that an interrupted run goes on where it stopped.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import yargs from "yargs";
import { FAULTS, VARIANTS } from "../../src/gateway/index.ts";
import { judgeGateway } from "./judge-gateway.ts";

/** Areas whose faults only the limits suites show; these wait for one-minute windows. */
const LIMIT_AREAS = ["rate", "slots", "retry-after", "rate-headers"];
const LIMIT_SUITES = ["limits", "retry-after", "errors", "auth", "service"];
const HANG_MS = 420_000;

const args = await yargs(process.argv.slice(2))
  .command("$0 <kind> <out>", "judge every fault or variant", (y) =>
    y
      .positional("kind", { choices: ["faults", "variants"] as const, demandOption: true })
      .positional("out", { type: "string", demandOption: true }),
  )
  .option("concurrency", { type: "number", default: 4 })
  .option("part", { type: "string", default: "0/1" })
  .option("only", { type: "string", default: "" })
  .option("areas", { type: "string" })
  .option("suites", { type: "string" })
  .strict()
  .parseAsync();
const { kind, out, areas, suites } = args as unknown as { kind: "faults" | "variants"; out: string } & typeof args;

interface Switch {
  readonly name: string;
  readonly area: string;
  readonly rows?: readonly string[];
}

const isLimit = ({ name, area }: Switch): boolean =>
  LIMIT_AREAS.includes(area) || (area === "denial" && /rate|concurrency/.test(name));

function suitesOf(wanted: Switch): readonly string[] | undefined {
  if (suites !== undefined) return suites.split(",");
  if (kind === "variants") return undefined;
  return isLimit(wanted) ? LIMIT_SUITES : QUICK_SUITES;
}

const QUICK_SUITES = (await import("../../suites/index.ts")).CHECKS.map(({ id }) => id.split(".")[0] ?? "").filter(
  (suite, at, all) => all.indexOf(suite) === at && suite !== "limits" && suite !== "retry-after",
);

const lines = existsSync(out) ? readFileSync(out, "utf8").split("\n").filter(Boolean) : [];
const done = new Set(lines.map((line) => (JSON.parse(line) as Switch).name));
const [part = 0, parts = 1] = args.part.split("/").map(Number);
const all: readonly Switch[] = kind === "faults" ? FAULTS : VARIANTS;
const queue = all
  .filter((_, at) => at % parts === part)
  .filter(({ name, area }) => !done.has(name) && (areas?.split(",").includes(area) ?? true))
  .filter(({ name }) => new RegExp(args.only).test(name));

async function judgeOne(wanted: Switch): Promise<object> {
  const chosen = suitesOf(wanted);
  const { results, requests } = await judgeGateway({
    [kind]: [wanted.name],
    ...(chosen === undefined ? {} : { suites: chosen }),
  });
  const bad = results
    .filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status))
    .map(({ id, status, violated, message }) => ({ id, s: status, v: violated, m: message.slice(0, 240) }));
  return { requests, bad };
}

async function work(): Promise<void> {
  for (let wanted = queue.shift(); wanted !== undefined; wanted = queue.shift()) {
    const startedMs = Date.now();
    const hung = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("HUNG")), HANG_MS).unref());
    const outcome = await Promise.race([judgeOne(wanted), hung]).catch((error: unknown) => ({ error: String(error) }));
    const { name, area, rows } = wanted;
    appendFileSync(out, `${JSON.stringify({ name, area, rows, ms: Date.now() - startedMs, ...outcome })}\n`);
  }
}

await Promise.all(Array.from({ length: args.concurrency }, work));
process.exit(0);

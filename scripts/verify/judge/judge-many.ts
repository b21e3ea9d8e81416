/**
 * Judges the reference gateway once per mutation or variant and appends one JSON line each; a worker of `mutations.ts`:
 *
 *     tsx scripts/verify/judge/judge-many.ts mutations|variants OUT.jsonl [--names FILE] [--concurrency 5] [--suites a,b | --quick | --instances FILE] [--until MS]
 *
 * Names that OUT already holds are skipped, so that an interrupted run resumes where it stopped.
 */
import { appendFileSync, readFileSync } from "node:fs";
import yargs from "yargs";
import { type Instance, instancesOf, suiteOf } from "../../../src/checks/index.ts";
import { MUTATIONS, VARIANTS } from "../../../src/reference-gateway/index.ts";
import { isQuick } from "../../../src/run/suites/own-suites.ts";
import { CHECKS } from "../../../suites/index.ts";
import { judgeGateway } from "./judge-gateway.ts";
import { type Judgement, readJudgements } from "./judgement.ts";

/** Areas whose mutations only the limits suites detect; these wait for one-minute windows. */
const LIMIT_AREAS = ["rate", "concurrency", "retry-after", "rate-headers"];
const LIMIT_SUITES = ["limits", "retry-after", "errors", "auth", "service"];
const QUICK_SUITES = [...new Set(CHECKS.map(({ id }) => suiteOf(id)))].filter(
  (suite) => suite !== "limits" && suite !== "retry-after",
);
/** Longer than all checks take with a gateway that needs five seconds for every response, while others are judged in parallel. */
const HANG_MS = 1_800_000;

const args = await yargs(process.argv.slice(2))
  .command("$0 <kind> <out>", "judge mutations or variants", (y) =>
    y
      .positional("kind", { choices: ["mutations", "variants"] as const, demandOption: true })
      .positional("out", { type: "string", demandOption: true }),
  )
  .option("concurrency", { type: "number", default: 5 })
  .option("names", { type: "string" })
  .option("suites", { type: "string" })
  .option("quick", { type: "boolean", default: false, describe: "Only what a quick run has" })
  .option("instances", { type: "string", describe: "Only these, one id per line, as a quick run judges them" })
  .option("until", { type: "number", describe: "Time of day, ms, after which none is begun" })
  .strict()
  .parseAsync();
const { kind, out } = args as unknown as { kind: "mutations" | "variants"; out: string };

const quickInstances = args.quick
  ? CHECKS.flatMap(instancesOf).filter(isQuick)
  : args.instances === undefined
    ? undefined
    : listed(readFileSync(args.instances, "utf8").split("\n"));

function listed(ids: readonly string[]): readonly Instance[] {
  return CHECKS.flatMap(instancesOf).filter(({ id }) => ids.includes(id));
}

interface Switch {
  readonly name: string;
  readonly area: string;
}

/** The suites that can detect a mutation; `undefined` for all. */
function suitesOf({ name, area }: Switch): readonly string[] | undefined {
  if (args.suites !== undefined) return args.suites.split(",");
  if (kind === "variants" || area === "load") return undefined;
  if (area === "tokens") return [...LIMIT_SUITES, "token-limits"];
  const isLimit = LIMIT_AREAS.includes(area) || (area === "denial" && /rate|concurrency/.test(name));
  return isLimit ? LIMIT_SUITES : QUICK_SUITES;
}

async function judgeOne(mutation: Switch): Promise<Pick<Judgement, "requests" | "bad" | "failedProfiles">> {
  const suites = suitesOf(mutation);
  const { results, profiles, requests } = await judgeGateway({
    [kind]: [mutation.name],
    ...(quickInstances !== undefined ? { instances: quickInstances, isQuick: true } : suites && { suites }),
  });
  const bad = results
    .filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status))
    .map(({ id, status, violated, message, findings }) => ({
      id,
      status,
      requirements: violated,
      message: message.slice(0, 240),
      findings: findings.filter(({ outcome }) => outcome === "broken"),
    }));
  const failedProfiles = profiles.filter(({ result }) => result === "not-conformant").map(({ name }) => name);
  return { requests, bad, failedProfiles };
}

const done = new Set(readJudgements(out).map(({ name }) => name));
const names = args.names === undefined ? undefined : readFileSync(args.names, "utf8").split("\n");
const all: readonly Switch[] = kind === "mutations" ? MUTATIONS : VARIANTS;
const queue = all.filter(({ name }) => !done.has(name) && (names?.includes(name) ?? true));

async function work(): Promise<void> {
  for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
    if (Date.now() > (args.until ?? Number.POSITIVE_INFINITY)) return;
    const startedMs = Date.now();
    const hung = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("HUNG")), HANG_MS).unref());
    const outcome = await Promise.race([judgeOne(mutation), hung]).catch((error: unknown) => ({
      requests: 0,
      bad: [],
      error: String(error),
    }));
    const judgement: Judgement = { kind, name: mutation.name, ms: Date.now() - startedMs, ...outcome };
    appendFileSync(out, `${JSON.stringify(judgement)}\n`);
  }
}

await Promise.all(Array.from({ length: args.concurrency }, work));
process.exit(0);

/**
 * Verifies what only load can show: tier runs against mutations of the reference gateway, which must lead to the right finding,
 * and against valid variants, which must not be blamed. Every run counts: none is repeated.
 *
 *     npm run verify load                                       the table below, brief runs, about six minutes
 *     npm run verify load -- --all mutations --out OUT.jsonl       every mutation, or every variant, one JSON line each, for reading
 *
 * With `--all`, names that OUT already holds are skipped.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import yargs from "yargs";
import { sleep } from "../../../src/core/index.ts";
import { MUTATIONS, VARIANTS } from "../../../src/reference-gateway/index.ts";
import { brokenIn, loadGateway } from "./load-gateway.ts";

/** Mutations, and the finding that a brief run must report for each; a warning has a question mark. */
const EXPECTED: Readonly<Record<string, string>> = {
  "rate.never-enforced": "rate.not-enforced",
  "rate.tripled": "rate.exceeded",
  "rate.checked-before-counted": "rate.exceeded",
  "rate.halved": "rate.denied-below-limit",
  "concurrency.one-too-many": "concurrency.exceeded",
  "concurrency.one-too-few": "concurrency.denied-early",
  "concurrency.leaked-by-streams": "concurrency.leaked",
  "retry-after.missing": "retry-after.missing",
  "retry-after.word": "retry-after.unusable?",
  "retry-after.always-one": "retry-after.sufficient?",
  "load.answers-crossed": "answers.crossed",
  "load.slow-for-a-while": "latency.slowed?",
};

/** Valid variants. */
const SOUND = [
  "limits.fixed-window",
  "limits.token-bucket",
  "retry-after.http-date",
  "stream.crlf",
  "http.noisy-latency",
  "http.one-slow-second",
];

/** Share of the runs that may be inconclusive because the machine was busy. */
const MAX_UNDECIDED = 0.25;

const args = await yargs(process.argv.slice(2))
  .option("all", { choices: ["mutations", "variants"] as const, describe: "Every one of a kind, judged by nobody" })
  .option("out", { type: "string", describe: "With --all: file for one line of each run" })
  .option("concurrency", { type: "number", default: 6 })
  .option("only", { type: "string", default: "" })
  .option("brief", { type: "boolean", default: false, describe: "With --all: brief runs" })
  .implies("all", "out")
  .strict()
  .parseAsync();

type Kind = "mutations" | "variants";
interface Job {
  readonly kind: Kind;
  readonly name: string;
}

async function runOf({ kind, name }: Job, length: "brief" | "thorough") {
  const startedMs = Date.now();
  const outcome = await loadGateway({ [kind]: [name], length }).then(
    (run) => ({
      verdict: run.verdict,
      broken: brokenIn(run),
      reasons: run.reasons.map(({ text }) => text),
      phases: run.phases.map(({ name: phase, verdict, message }) => `${phase} ${verdict}: ${message}`),
    }),
    (error: unknown) => ({ error: String(error) }),
  );
  return { name, s: Math.round((Date.now() - startedMs) / 1_000), ...outcome };
}

/** Concurrent but staggered: runs that reach the concurrency limit at the same time would starve each other in one process. */
async function each(jobs: readonly Job[], work: (job: Job) => Promise<void>): Promise<void> {
  const queue = jobs.filter(({ name }) => new RegExp(args.only).test(name));
  await Promise.all(
    Array.from({ length: args.concurrency }, async (_, index) => {
      await sleep(index * 9_000);
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) await work(job);
    }),
  );
}

async function everyOne(kind: Kind, out: string): Promise<void> {
  const lines = existsSync(out) ? readFileSync(out, "utf8").split("\n").filter(Boolean) : [];
  const done = new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name));
  const names = (kind === "mutations" ? MUTATIONS : VARIANTS).map(({ name }) => name).filter((name) => !done.has(name));
  await each(
    names.map((name) => ({ kind, name })),
    async (job) => {
      const outcome = await runOf(job, args.brief ? "brief" : "thorough");
      appendFileSync(out, `${JSON.stringify(outcome)}\n`);
    },
  );
}

async function verifyTable(): Promise<number> {
  const wrong: string[] = [];
  let undecided = 0;
  let ran = 0;
  const jobs: Job[] = [
    ...Object.keys(EXPECTED).map((name) => ({ kind: "mutations" as const, name })),
    ...SOUND.map((name) => ({ kind: "variants" as const, name })),
  ];
  await each(jobs, async (job) => {
    const ended = await runOf(job, "brief");
    ran++;
    const { name, kind } = job;
    const outcome = "error" in ended ? ended.error : `${ended.verdict}: ${ended.broken.join(", ") || "nothing broken"}`;
    const expected = EXPECTED[name];
    const holds =
      !("error" in ended) &&
      (kind === "variants" ? ended.broken.length === 0 : expected !== undefined && ended.broken.includes(expected));
    const isOpen = !("error" in ended) && ended.verdict === "inconclusive" && ended.broken.length === 0;
    if (isOpen) undecided++;
    else if (!holds) wrong.push(name);
    console.log(
      `${isOpen ? "open" : holds ? "ok  " : "BAD "} ${name}: ${outcome}${"reasons" in ended && isOpen ? ` (${ended.reasons.join("; ")})` : ""}`,
    );
  });
  console.log(
    `verify load: ${ran} runs, ${wrong.length} not as they should be${wrong.length === 0 ? "" : ` (${wrong.join(", ")})`}, ${undecided} without a verdict`,
  );
  if (wrong.length > 0 || ran === 0) return 1;
  return undecided > ran * MAX_UNDECIDED ? 4 : 0;
}

if (args.all === undefined) process.exitCode = await verifyTable();
else await everyOne(args.all, args.out as string);

/**
 * Verifies that a busy machine does not fail a conformant gateway: the embedded gateway is judged while other processes load
 * every CPU and Gauntlet or the gateway is stopped (SIGSTOP) at random moments. No run may fail; how many were inconclusive is
 * counted and printed. Every run counts: none is repeated.
 *
 *     npm run build && npm run verify disturbed                        40 runs of `conform` and 40 of the starter tier
 *     npm run verify disturbed -- --runs 4 --only tier --at-once 1
 *     npm run verify disturbed -- --seed 7                              the moments of the stops
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { seededRandom } from "../../src/core/index.ts";
import { startGauntlet } from "../../test/support/gauntlet.ts";

const args = await yargs(process.argv.slice(2))
  .option("runs", { type: "number", default: 40, describe: "Runs of each kind" })
  .option("only", { choices: ["conform", "tier"] as const, describe: "One kind" })
  .option("at-once", { type: "number", default: 2, describe: "Runs side by side" })
  .option("hogs", { type: "number", default: 4, describe: "Processes that burn a processor each" })
  .option("seed", { type: "number", default: Date.now() % 1_000_000, describe: "Decides the moments of the stops" })
  .strict()
  .parseAsync();

const KINDS = {
  conform: { command: ["conform", "--target", "embedded"], spanMs: 110_000 },
  tier: { command: ["load", "starter", "--target", "embedded"], spanMs: 150_000 },
} as const;
type Kind = keyof typeof KINDS;

/** Share of the runs of a kind that must decide: runs that are all inconclusive verify nothing. */
const MIN_DECIDED_SHARE = 0.5;
const NO_VERDICT = 4;

/** How long a process is stopped, ms: each once in every run, in random order, each time one of the two. */
const STOPS_MS = [200, 1_000, 6_000] as const;
const VERDICTS: Readonly<Record<number, string>> = { 0: "pass", 1: "FAIL", 4: "inconclusive" };

const folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-disturbed-"));
const hogs = Array.from({ length: args.hogs }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
const endHogs = () => {
  for (const hog of hogs) hog.kill("SIGKILL");
};
process.once("exit", endHogs);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const kinds: readonly Kind[] = args.only === undefined ? ["conform", "tier"] : [args.only];
// The kinds take turns, so that other load on the machine affects both.
const jobs = Array.from({ length: args.runs }, (_none, index) => kinds.map((kind) => ({ kind, index }))).flat();
const counts = new Map<string, number>();
const bad: string[] = [];
if (jobs.length === 0) throw new Error("--runs must be at least 1");
console.log(`disturbed: ${jobs.length} runs along with ${args.hogs} hogs, ${args.atOnce} at once, seed ${args.seed}`);
await Promise.all(
  Array.from({ length: args.atOnce }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await disturb(job.kind, job.index);
  }),
);
endHogs();
const undecided: Kind[] = [];
for (const kind of kinds) {
  const decided = (counts.get(`${kind} pass`) ?? 0) + (counts.get(`${kind} FAIL`) ?? 0);
  if (decided < args.runs * MIN_DECIDED_SHARE) undecided.push(kind);
  const said = ["pass", "inconclusive", "FAIL", "ended badly"].map(
    (word) => `${counts.get(`${kind} ${word}`) ?? 0} ${word}`,
  );
  console.log(`${kind}: ${args.runs} runs: ${said.join(", ")}`);
}
if (bad.length === 0) rmSync(folder, { recursive: true, force: true });
else console.log(`kept: ${folder}`);
console.log(
  `verify disturbed: ${undecided.length > 0 ? `fewer than half of the runs decided: ${undecided.join(", ")}; ` : ""}${bad.length === 0 ? "no conformant gateway failed" : `${bad.length} not as they should be: ${bad.join(", ")}`}`,
);
process.exit(bad.length > 0 ? 1 : undecided.length > 0 ? NO_VERDICT : 0);

async function disturb(kind: Kind, index: number): Promise<void> {
  const random = seededRandom(args.seed + index * 2 + (kind === "tier" ? 1 : 0));
  const name = `${kind}-${index}`;
  const out = join(folder, name);
  const { command, spanMs } = KINDS[kind];
  const beganMs = Date.now();
  await using running = startGauntlet([...command, "--out", out]);
  const stopped: string[] = [];
  const timers = STOPS_MS.map((forMs) => {
    const [atMs, ours] = [2_000 + random() * spanMs, random() < 0.5];
    return setTimeout(() => stopped.push(stopFor(running.child, ours, forMs)), atMs);
  });
  const { code, stdout } = await running.finished;
  for (const timer of timers) clearTimeout(timer);
  const verdict = VERDICTS[code ?? -1] ?? "ended badly";
  counts.set(`${kind} ${verdict}`, (counts.get(`${kind} ${verdict}`) ?? 0) + 1);
  const seconds = Math.round((Date.now() - beganMs) / 1_000);
  console.log(`${name}: ${verdict} after ${seconds} s; ${stopped.join(", ") || "ended before any stop"}`);
  if (verdict === "pass" || verdict === "inconclusive") return rmSync(out, { recursive: true, force: true });
  bad.push(name);
  const said = stdout.split("\n").filter((line) => /^ {2}[✗✖×?]|FAIL|exit code/.test(line));
  console.log(said.slice(0, 12).join("\n"));
}

/** Stops Gauntlet, or the gateway that it started, for this long. @returns what was done, as text. */
function stopFor(child: ChildProcess, ours: boolean, forMs: number): string {
  const pid = ours ? child.pid : gatewayOf(child);
  if (pid === undefined) return "nothing to stop";
  try {
    process.kill(pid, "SIGSTOP");
  } catch {
    return "it had ended";
  }
  setTimeout(() => {
    try {
      process.kill(pid, "SIGCONT");
    } catch {
      // It has ended in the meantime.
    }
  }, forMs);
  return `${ours ? "gauntlet" : "gateway"} stopped for ${forMs / 1_000} s`;
}

/** The process of the embedded gateway: the only one that a run starts. */
function gatewayOf({ pid }: ChildProcess): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children[0] === "" ? undefined : Number(children[0]);
  } catch {
    return undefined;
  }
}

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FORMATS } from "../../reports/index.ts";
import { readOrRecover } from "../../src/run/record/recover-record.ts";
import { openSource } from "../../src/run/record/write-reports.ts";
import { startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { recordProblems } from "../support/record-schema.ts";
import { unzipped } from "../support/run-files.ts";

/** How far a run was when it was killed, by its journal. */
export type Phase = "nothing yet" | "first contact" | "under way" | "finishing" | "finished";

export interface Killed {
  readonly phase: Phase;
  /** Lines in the journal. */
  readonly lines: number;
  /** From the last line to the kill, ms; `undefined` when there was none. */
  readonly silentMs: number | undefined;
  /** What was lost or corrupted; empty: nothing. */
  readonly complaints: readonly string[];
}

const LOAD =
  "name: small\narrivals: { kind: poisson, ratePerS: 30, durationS: 3 }\nmix: [{ dialect: chat }, { dialect: chat, stream: true }]\n";

/** Moments are drawn from a little more than the duration of a whole run here and now: some runs end normally. */
const BEYOND = 1.1;

/** Kills this many runs at random moments, alternating conformance and load, some of them with the embedded gateway. */
export async function killMany(count: number, workers: number): Promise<Killed[]> {
  await using gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "gauntlet.yaml"),
    `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\nlimits: { rpm: 6000, inFlight: 256 }\n`,
  );
  writeFileSync(join(folder.path, "small.yaml"), LOAD);
  const environment = { K: ready.keys.valid };
  const target = ["--target", "gauntlet.yaml"];
  const kinds = [
    ["conform", "models", "chat", "streaming", ...target],
    ["load", "small.yaml", ...target],
    ["conform", "models", "chat", ...target],
    ["conform", "models", "auth"],
  ];
  const lifeMs = await Promise.all(
    kinds.map(async (args) => {
      const startedMs = performance.now();
      await using running = startGauntlet(args, environment, folder.path);
      await running.finished;
      return performance.now() - startedMs;
    }),
  );
  const killed: Killed[] = [];
  let begun = 0;
  const work = async () => {
    while (begun < count) {
      const kind = begun++ % kinds.length;
      const afterMs = Math.random() * (lifeMs[kind] ?? 0) * BEYOND;
      killed.push(await killAfter(kinds[kind] ?? [], environment, folder.path, afterMs));
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return killed;
}

/** Starts a command and kills it after this many ms, unless it has ended before. Then inspects what it left behind. */
export async function killAfter(
  args: readonly string[],
  environment: Record<string, string>,
  cwd: string,
  afterMs: number,
): Promise<Killed> {
  const out = join(cwd, `run-${process.hrtime.bigint()}`);
  await using running = startGauntlet([...args, "--out", out], environment, cwd);
  let killedAtMs = Date.now() + afterMs;
  const timer = setTimeout(() => {
    killedAtMs = Date.now();
    running.child.kill("SIGKILL");
  }, afterMs);
  await running.finished;
  clearTimeout(timer);
  return lookAt(out, killedAtMs);
}

/** What a killed run left behind. */
export function lookAt(out: string, endedAtMs: number): Killed {
  const text = unzipped(join(out, "journal.ndjson.gz"));
  if (text === "") return { phase: "nothing yet", lines: 0, silentMs: undefined, complaints: [] };
  const lines = text.split("\n").slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as { at: string; event: string });
  const last = events.at(-1);
  return {
    phase: phaseOf(
      out,
      events.map(({ event }) => event),
    ),
    lines: events.length,
    silentMs: last === undefined ? undefined : endedAtMs - Date.parse(last.at),
    complaints: [
      ...(text.endsWith("\n") ? [] : ["the last line of the journal is cut"]),
      ...reportable(out, events.at(0)?.event),
    ],
  };
}

function phaseOf(out: string, events: readonly string[]): Phase {
  if (events.includes("finished")) return "finished";
  if (existsSync(join(out, "run.json")) || existsSync(join(out, "run.json.part"))) return "finishing";
  return events.some((event) => /^(check|load|phase)-/.test(event)) ? "under way" : "first contact";
}

/** Whether a record and every report can be made from it, and whether they say that it is partial. */
function reportable(out: string, first: string | undefined): string[] {
  if (first !== "started") return [`the journal begins with ${first}`];
  const mutations = existsSync(join(out, "run.json")) ? recordProblems(out) : [];
  const record = readOrRecover(out);
  const partial = existsSync(join(out, "run.json")) || (!record.complete && record.verdict.result !== "pass");
  const saysCutOff = record.complete || /cut off/.test(record.verdict.headline);
  const source = openSource(out);
  // This one only describes the phases of a load that have ended.
  const { "llm-d": ofLoad, ...others } = FORMATS;
  const isLoad = record.load?.runs.some(({ phases }) => phases.length > 0) === true;
  const formats = [...Object.values(others), ...(isLoad ? [ofLoad] : [])];
  const texts = formats.map((format) => [...format(source, "single").values()].join(""));
  const html = texts[0] ?? "";
  return [
    ...mutations,
    ...(partial ? [] : [`a run without a record is said to ${record.verdict.result}`]),
    ...(saysCutOff ? [] : ["the verdict does not say that the run was cut off"]),
    ...(texts.every((made) => made.length > 0) ? [] : ["a report is empty"]),
    ...(html.includes("cut off") || record.complete ? [] : ["the report does not say that the run was cut off"]),
  ];
}

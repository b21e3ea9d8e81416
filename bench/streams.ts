/**
 * Many concurrent streams, against a server that records when it really sent: what an event costs, and how far the reported times
 * are from the truth.
 *
 *     npm run build && npm run bench:streams            500 streams of 50 events/s for 25 s, then 10,000 streams, three runs each
 *     npm run bench:streams -- --oha                    also oha on the same 500 streams (it reads them, but does not parse events)
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import yargs from "yargs";
import type { LoadPhase } from "../src/record/index.ts";
import { type Cost, findOha, gauntletLoad, medianRow, run, startPacedServer } from "./support/bench-tools.ts";
import type { Pacing, Truth } from "./support/paced-server.ts";

/** A lean client: undici reads, eventsource-parser parses, and nothing is judged or reported. */
const LEAN = fileURLToPath(new URL("./support/lean-streams.ts", import.meta.url));

const options = await yargs(process.argv.slice(2))
  .option("runs", { type: "number", default: 3 })
  .option("seconds", { type: "number", default: 23, describe: "of the 500 streams; the ramp of a second comes before" })
  .option("streams", { type: "number", default: 10_000, describe: "of the many slow ones" })
  .option("oha", { type: "boolean", default: false })
  .strict()
  .parseAsync();

const FAST: Partial<Pacing> = { firstMs: 100, gapMs: 20, events: 64 };
const IN_FLIGHT = 500;
/** 2.5 events per second each. */
const SLOW: Partial<Pacing> = { firstMs: 100, gapMs: 400, events: 60 };
const SLOW_RAMP_S = 10;

const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
const fastLoad = {
  arrivals: { kind: "closed", inFlight: IN_FLIGHT, durationS: options.seconds, rampS: 1 },
  mix: [{ dialect: "chat", stream: true }],
};
const tools: Record<string, (url: string) => readonly string[]> = {
  gauntlet: (url) => gauntletLoad(folder, url, fastLoad),
  "undici + eventsource-parser": (url) => [
    ...[process.execPath, "--import", "tsx", LEAN],
    ...[`${url}/chat/completions`, String(IN_FLIGHT), String(options.seconds)],
  ],
};
if (options.oha) {
  const oha = findOha();
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}';
  tools["oha (reads, parses nothing)"] = (url) => [
    ...[oha, "--no-tui", "-c", String(IN_FLIGHT), "-z", `${options.seconds}s`],
    ...["-m", "POST", "-T", "application/json", "-d", body, `${url}/chat/completions`],
  ];
}

const runs = new Map<string, Record<string, number | undefined>[]>();
for (let round = 0; round < options.runs; round++) {
  for (const [tool, command] of Object.entries(tools)) {
    await using server = await startPacedServer(FAST);
    const cost = await run(command(server.url));
    const truth = await server.truth();
    const row = { ...rowOf(cost, truth), ...(tool === "gauntlet" ? errorsOf(cost, truth) : {}) };
    runs.set(tool, [...(runs.get(tool) ?? []), row]);
  }
}
console.log(`${IN_FLIGHT} streams of 50 events/s, ${options.seconds} s: median (lowest … highest) of ${options.runs}`);
console.table(Object.fromEntries([...runs].map(([tool, rows]) => [tool, medianRow(rows)])));

const slow: Record<string, number | undefined>[] = [];
for (let round = 0; round < options.runs; round++) {
  await using server = await startPacedServer(SLOW);
  const { streams } = options;
  const arrivals = { kind: "closed", inFlight: streams, requests: streams, durationS: 60, rampS: SLOW_RAMP_S };
  const mix = [{ dialect: "chat", stream: true }];
  const cost = await run(gauntletLoad(folder, server.url, { arrivals, mix }));
  const truth = await server.truth();
  slow.push({ ...rowOf(cost, truth), ...errorsOf(cost, truth) });
}
console.log(`${options.streams} streams of 2.5 events/s: median (lowest … highest) of ${options.runs}`);
console.table({ gauntlet: medianRow(slow) });
rmSync(folder, { recursive: true, force: true });

function rowOf({ cpuS, peakRssMb }: Cost, { requests, events, peakInFlight }: Truth) {
  return {
    requests,
    "peak in flight": peakInFlight,
    events,
    "CPU s": cpuS,
    "events per CPU second": events / cpuS,
    "peak MB": peakRssMb,
  };
}

/** Reported minus true times, and what was not admitted. */
function errorsOf({ stdout }: Cost, truth: Truth) {
  const [phase] = JSON.parse(stdout).phases as LoadPhase[];
  const streams = phase?.classes.find(({ outcome, stream }) => outcome === "admitted" && stream);
  return {
    "not admitted": (phase?.sent ?? 0) - (phase?.admitted ?? 0),
    "TTFT p50 error ms": (streams?.ttftMs?.p50 ?? Number.NaN) - truth.ttftMs.p50,
    "TTFT p99 error ms": (streams?.ttftMs?.p99 ?? Number.NaN) - truth.ttftMs.p99,
    "gap p99 error ms": (streams?.eventGapMs?.p99 ?? Number.NaN) - truth.gapMs.p99,
  };
}

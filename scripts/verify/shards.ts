// Eight shards in separate network namespaces against one server, and one process that sends the same load: schedule, counts and
// quantiles. Then a shard that is killed, one that starts late and one whose clock is 400 ms off; and what a shard costs. Needs
// root, because it creates network namespaces; takes about a minute and a half.
//
//   npm run build && npm run verify shards

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readHistogramLog } from "../../reports/index.ts";
import type { Histogram } from "../../src/metrics/index.ts";
import type { LoadPhase, RunRecord } from "../../src/record/index.ts";
import { makeNamespaces, type Namespaces } from "../../test/k6/support/namespaces.ts";
import { gauntlet, MAIN, startGauntlet } from "../../test/support/gauntlet.ts";

const SHARDS = 8;
const RATE_PER_S = 64;
const DURATION_S = 10;
/** Time for eleven processes to start and to measure their clocks. */
const AHEAD_S = 20;
const SHIFT_MS = 400;
const KEY = "sk-verify-shards-0123456789";
/** Inconclusive: nothing could be proved here. */
const INCONCLUSIVE = 4;

const folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-shards-"));
const problems: string[] = [];
/** The shards of a busy machine are late: then what was sent proves nothing in either direction. */
let wasBusy = false;

function expectTrue(what: string, isTrue: boolean, figures: string): void {
  console.log(`${isTrue ? "ok  " : "FAIL"} ${what}: ${figures}`);
  if (!isTrue) problems.push(what);
}

/** The same for what can only hold if the generators were on time. */
function expectOnTime(what: string, isTrue: boolean, figures: string): void {
  if (isTrue || !wasBusy) expectTrue(what, isTrue, figures);
  else console.log(`open ${what}: ${figures}`);
}

/** A stream whose first token is sent after 30 to 130 ms, with the same distribution for every client. */
async function respond(response: ServerResponse, ordinal: number): Promise<void> {
  const event = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  event({ role: "assistant", content: "" });
  // The golden ratio spreads any number of them evenly.
  await delay(30 + 100 * ((ordinal * 0.618_034) % 1));
  for (const content of ["one", " two", " three", " four"]) {
    event({ content });
    await delay(20);
  }
  event({}, "stop");
  response.end("data: [DONE]\n\n");
}

async function serve(host: string, shiftMs: number) {
  const arrivals = new Map<string, number[]>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.sendDate = false;
    response.setHeader("date", new Date(Date.now() + shiftMs).toUTCString());
    if (request.method !== "POST") return void response.end();
    const own = arrivals.get(String(request.headers["x-run"])) ?? [];
    arrivals.set(String(request.headers["x-run"]), own);
    own.push(Date.now());
    request.resume();
    request.on("end", () => void respond(response, own.length));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, host);
  await once(server, "listening");
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, arrivals, close };
}

const recordOf = (run: string): RunRecord => JSON.parse(readFileSync(join(folder, run, "run.json"), "utf8"));
const phaseOf = (run: string): LoadPhase => recordOf(run).load?.runs[0]?.phases[0] as LoadPhase;
const histogramOf = (run: string, figure: string): Histogram =>
  readHistogramLog(readFileSync(join(folder, run, "load.hlog"), "utf8")).get(
    `verify.chat.streaming.admitted.${figure}`,
  ) as Histogram;

/** Accuracy of the server's timers, for every client. */
const TIMER_MS = 1;

/** Interval of a quantile by its rank, 99.9 %. */
function interval(histogram: Histogram, share: number): readonly [low: number, high: number] {
  const reach = 3.29 * Math.sqrt((share * (1 - share)) / histogram.count);
  const at = (rank: number) => histogram.quantileUs(Math.min(1, Math.max(0, rank))) / 1_000;
  return [at(share - reach) - TIMER_MS / 2, at(share + reach) + TIMER_MS / 2];
}

function compareQuantiles(): void {
  for (const figure of ["ttft", "eventGap", "response"])
    for (const share of [0.5, 0.9, 0.99]) {
      const [one, eight] = ["alone", "merged"].map((run) => histogramOf(run, figure)) as [Histogram, Histogram];
      const [a, b] = [interval(one, share), interval(eight, share)];
      const tell = ([low, high]: readonly [number, number]) => `${low.toFixed(1)} to ${high.toFixed(1)} ms`;
      const apart = a[1] < b[0] || b[1] < a[0];
      expectOnTime(
        `${figure} p${share * 100}: the intervals overlap`,
        !apart,
        `one process ${tell(a)}, shards ${tell(b)}`,
      );
    }
}

interface Sent {
  readonly child: ChildProcess;
  readonly done: Promise<unknown>;
}

/** Starts a run in a namespace. */
function runIn(network: Namespaces, position: number, url: string) {
  const { name } = network.inside[position] as { name: string };
  return (run: string, ...more: string[]): Sent => {
    const target = join(folder, `${run}.yaml`);
    const extraHeaders = { all: { "X-Run": run } };
    const keys = { valid: "env:VERIFY_KEY" };
    const models = { chat: "m", stream: "m" };
    writeFileSync(target, JSON.stringify({ baseUrl: `${url}/v1`, authorized: true, keys, models, extraHeaders }));
    const load = ["load", join(folder, "workload.yaml"), "--target", target, "--json", "--out", join(folder, run)];
    const child = spawn("ip", ["netns", "exec", name, process.execPath, MAIN, ...load, ...more], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, VERIFY_KEY: KEY },
    });
    return { child, done: once(child, "exit") };
  };
}

async function merge(name: string, runs: readonly string[]) {
  const dirs = runs.map((run) => join(folder, run));
  const { code, stdout, stderr } = await gauntlet(["merge", ...dirs, "--out", join(folder, name), "--json"]);
  if (code !== 0 && code !== 1 && code !== 4) throw new Error(stderr);
  const { reasons } = JSON.parse(stdout) as { reasons: { text: string }[] };
  return { code, reasons: reasons.map(({ text }) => text).join("; ") };
}

async function prove(network: Namespaces): Promise<void> {
  const server = await serve(network.host, 0);
  const shifted = await serve(network.host, SHIFT_MS);
  try {
    const workload = {
      name: "verify",
      arrivals: { kind: "poisson", ratePerS: RATE_PER_S, durationS: DURATION_S, seed: 7 },
      mix: [{ dialect: "chat", stream: true }],
    };
    writeFileSync(join(folder, "workload.yaml"), JSON.stringify(workload));
    const startAt = Math.floor(Date.now() / 1_000) + AHEAD_S;
    const shard = (run: string, index: number, ...more: string[]) =>
      runIn(network, index - 1, server.url)(
        run,
        "--shard",
        `${index}/${SHARDS}`,
        "--start-at",
        String(startAt),
        ...more,
      );
    const names = Array.from({ length: SHARDS }, (_, index) => `shard-${index + 1}`);
    const running = names.map((name, index) => shard(name, index + 1));
    const killed = shard("killed", 2);
    const off = shard("off", 4, "--time-source", shifted.url);
    await delay((startAt + DURATION_S / 3) * 1_000 - Date.now());
    killed.child.kill("SIGKILL");
    const late = shard("late", 3);
    await Promise.all([...running, off, late, killed].map(({ done }) => done));
    await runIn(network, 0, server.url)("alone", "--seed", String(recordOf("shard-1").seed)).done;

    const { code, reasons } = await merge("merged", names);
    wasBusy = code === INCONCLUSIVE;
    console.log(`     merged: exit code ${code}${reasons === "" ? "" : `, ${reasons}`}`);
    const [one, eight] = [phaseOf("alone"), phaseOf("merged")];
    const counts = ({ offered, sent, admitted, denied, failed, dropped }: LoadPhase) =>
      JSON.stringify({ offered, sent, admitted, denied, failed, dropped });
    expectOnTime("counts are those of one process", counts(one) === counts(eight), counts(eight));
    const perSecond = ({ series }: LoadPhase) =>
      series.flatMap(({ offered }) => (offered > 0 ? [offered] : [])).join(" ");
    expectTrue(
      "the schedule, by the second, is that of one process",
      perSecond(one) === perSecond(eight),
      perSecond(eight),
    );
    const seen = names.reduce((sum, name) => sum + (server.arrivals.get(name)?.length ?? 0), 0);
    expectTrue("the server saw what the record says", seen === eight.sent, `${seen} requests`);
    const begins = names.map((name) => Math.min(...(server.arrivals.get(name) ?? [])));
    console.log(
      `     first arrivals of the shards within ${Math.max(...begins) - Math.min(...begins)} ms (their first due moments differ)`,
    );
    compareQuantiles();
    const clocks = recordOf("merged").load?.runs[0]?.instances ?? [];
    console.log(
      `     clocks: ${clocks.map(({ clockOffsetMs, clockUncertaintyMs }) => `${clockOffsetMs?.toFixed(1)} ± ${clockUncertaintyMs?.toFixed(1)} ms`).join(", ")}`,
    );
    const cases = [
      ["missing", [...names.slice(0, 4), ...names.slice(5)], /shard 5\/8 was not merged/],
      ["killed", names.with(1, "killed"), /shard 2\/8 was killed before its end/],
      ["late", names.with(2, "late"), /shard 3\/8: began \d+ ms late/],
      ["clock", names.with(3, "off"), /shard 4\/8: its clock is at least \d+ ms off/],
    ] as const;
    for (const [name, runs, says] of cases) {
      const found = await merge(`with-${name}`, runs);
      expectTrue(
        `${name}: inconclusive, and named`,
        found.code === 4 && says.test(found.reasons),
        found.reasons.slice(0, 200),
      );
    }
  } finally {
    server.close();
    shifted.close();
  }
}

const RATE_COST_PER_S = 300;
const HELD = 400;

/** What one process costs: an almost idle run, one with non-streaming replies, one with held streams; by their differences. */
async function cost(): Promise<void> {
  await using gateway = startGauntlet(["gateway", "--limits", "10000000:100000", "--pieces", "40", "--pace", "150"]);
  const text = await gateway.printed(/\{"event":"ready".*\}\n/s);
  const ready = JSON.parse(text.slice(text.indexOf("{"), text.indexOf("\n", text.indexOf("{"))));
  const target = join(folder, "cost.yaml");
  const models = { chat: "echo-fast", stream: "echo-stream" };
  writeFileSync(target, JSON.stringify({ baseUrl: ready.baseUrl, keys: { valid: "env:VERIFY_KEY" }, models }));
  const measure = async (name: string, arrivals: object, stream: boolean) => {
    const workload = join(folder, `${name}.yaml`);
    writeFileSync(workload, JSON.stringify({ name, arrivals, mix: [{ dialect: "chat", stream }] }));
    const out = join(folder, name);
    const { code, stderr } = await gauntlet(["load", workload, "--target", target, "--out", out], {
      VERIFY_KEY: ready.keys.valid,
    });
    if (code !== 0 && code !== 4) throw new Error(stderr);
    const run = recordOf(name).load?.runs[0];
    const [phase] = run?.phases ?? [];
    if (run === undefined || phase === undefined) throw new Error(`${name} has no phase`);
    const streams = phase.classes.filter(({ outcome }) => outcome === "admitted");
    const tokens = streams.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
    const heldS = streams.reduce((sum, { count, serviceMs }) => sum + (count * (serviceMs?.p50 ?? 0)) / 1_000, 0);
    return { ...run.generator, sent: phase.sent, tokens, heldS };
  };
  const idle = await measure("idle", { kind: "constant", ratePerS: 1, durationS: 3 }, false);
  const rate = await measure("rate", { kind: "constant", ratePerS: RATE_COST_PER_S, durationS: 5 }, false);
  const held = await measure("held", { kind: "closed", inFlight: HELD, requests: HELD, rampS: 1 }, true);
  const perRequestMs = ((rate.cpuS - idle.cpuS) / rate.sent) * 1_000;
  const streamS = held.cpuS - idle.cpuS - (held.sent * perRequestMs) / 1_000;
  console.log(
    `     cost: ${perRequestMs.toFixed(3)} ms of processor a non-streaming reply (${rate.sent}); ` +
      `${((streamS / held.heldS) * 1_000).toFixed(3)} ms a stream and second, ${((streamS / Math.max(1, held.tokens)) * 1_000).toFixed(4)} ms a token event (${held.sent} streams, ${held.tokens} tokens, ${held.heldS.toFixed(0)} s); ` +
      `${((held.peakRssBytes - idle.peakRssBytes) / held.sent / 1_000).toFixed(0)} kB a stream, ${(idle.peakRssBytes / 1e6).toFixed(0)} MB at rest`,
  );
}

const network = makeNamespaces(SHARDS);
if (network === undefined) {
  console.log("shards: network namespaces cannot be made here (root is needed), so nothing was proven");
  process.exitCode = INCONCLUSIVE;
} else {
  try {
    await prove(network);
    await cost();
  } finally {
    network[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  }
  const verified = wasBusy ? "shards: without a verdict, because this machine is too busy" : "shards: verified";
  console.log(problems.length === 0 ? verified : `shards: ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : wasBusy ? INCONCLUSIVE : 0;
}

// real-time: compares durations that it measures
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { listening } from "../support/listening.ts";
import { startDelayedProvider } from "../support/start-delayed-provider.ts";

const KEY = { OVERHEAD_KEY: "overhead-key-0815" };
const BRIEF = briefly({ rounds: 4 });
const DELAY_MS = 30;
const GAP_MS = 5;

function briefly({ rounds }: { readonly rounds: number }): readonly string[] {
  return ["--concurrency", "1,2", "--prompt-bytes", "500", "--rounds", `${rounds}`, "--block-s", "0.1", "--anyway"];
}

function targetFile(folder: string, name: string, origin: string): string {
  const path = join(folder, `${name}.yaml`);
  const lines = [`name: ${name}`, `baseUrl: ${origin}/v1`, "keys: { valid: env:OVERHEAD_KEY }", "models: { chat: m }"];
  writeFileSync(path, `${lines.join("\n")}\ndialects: [chat]\n`);
  return path;
}

/** The options that measure a gateway against its upstream. */
function ofPair(folder: string, direct: string, gateway: string): string[] {
  return ["--target", targetFile(folder, "gateway", gateway), "--direct", targetFile(folder, "direct", direct)];
}

function serve(res: ServerResponse, body: string): void {
  const isStream = body.includes('"stream":true');
  const choice = isStream ? { delta: { content: "word " } } : { message: { role: "assistant", content: "word" } };
  const json = JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, ...choice, finish_reason: "stop" }] });
  res.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  res.end(isStream ? `data: ${json}\n\ndata: [DONE]\n\n` : json);
}

/** A provider that sends another response to every `nth` request. */
async function providerWith(other: { readonly status: number; readonly reason: string; readonly nth: number }) {
  let requests = 0;
  const server = createServer(async (req, res) => {
    const body = await text(req);
    requests++;
    if (requests % other.nth === 0) {
      res.writeHead(other.status, { "content-type": "application/json", "x-service-error-code": other.reason });
      res.end(JSON.stringify({ error: { message: other.reason, code: other.reason } }));
      return;
    }
    serve(res, body);
  });
  return listening(server, () => server.closeAllConnections());
}

/** A provider that finishes one request every `everyMs`, however many wait: its limit is known. */
async function providerAtPace(everyMs: number) {
  const waiting: (() => void)[] = [];
  const pace = setInterval(() => waiting.shift()?.(), everyMs);
  const server = createServer(async (req, res) => {
    const body = await text(req);
    waiting.push(() => serve(res, body));
  });
  return listening(server, () => {
    clearInterval(pace);
    server.closeAllConnections();
  });
}

const ALWAYS_SERVED = { status: 500, reason: "internal_error", nth: Number.POSITIVE_INFINITY };

test("the delay of a gateway is what it adds, in JSON, in the record, and in a policy", async () => {
  using folder = temporaryFolder();
  await using direct = await startDelayedProvider({ response: 0, first: 0, each: 0 });
  const delayUs = DELAY_MS * 1_000;
  await using slow = await startDelayedProvider({ response: delayUs, first: delayUs, each: GAP_MS * 1_000 });
  const files = [
    targetFile(folder.path, "direct", direct.origin),
    targetFile(folder.path, "slow", slow.origin),
  ] as const;
  const policy = join(folder.path, "policy.yaml");
  const gates = ["overhead.added_ms{stream=false} p50 < 2", "overhead.added_ttft_ms{concurrency=1} p50 < 2000"];
  writeFileSync(policy, `gates:\n${gates.map((gate) => `  - "${gate}"\n`).join("")}`);
  // Twice as many rounds as a figure needs: when other tests are running, some get no response in time.
  const arms = ["--target", files[1], "--direct", files[0], ...briefly({ rounds: 8 })];
  const args = ["overhead", ...arms, "--policy", policy, "--out", "run"];
  const { code, stdout, stderr } = await gauntlet([...args, "--json"], KEY, folder.path);
  expect(stderr).toBe("");
  expect(code).toBe(1);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({
    verdict: "fail",
    exitCode: 1,
    arms: [{ name: "slow" }],
    control: { name: "direct" },
  });
  expect(document.ceilingPerS).toBeGreaterThan(0);
  const [{ levels, frontier }] = document.arms;
  expect(levels.map((level: Record<string, unknown>) => [level["concurrency"], level["stream"]])).toEqual([
    [1, false],
    [1, true],
    [2, false],
    [2, true],
  ]);
  for (const level of levels) {
    expect(level).toMatchObject({ promptBytes: 500, errors: 0, upstreamBound: false });
    // The minimum for a median; how many fit into a block depends on the machine.
    expect(level.requests).toBeGreaterThanOrEqual(4);
    const { value, low, high } = (level.stream ? level.addedTtftMs : level.addedMs).p50;
    // When other tests are running, direct requests are late too; `npm run verify overhead-truth` shows the accuracy on an idle machine.
    expect(value).toBeGreaterThan(DELAY_MS * 0.25);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
  }
  expect(levels[0]).toMatchObject({ addedTtftMs: null, addedGapMs: null });
  expect(levels[1].addedGapMs.p50.value).toBeGreaterThan(GAP_MS / 2);
  // Even the smallest load adds more than all bounds: it is not loaded further.
  expect(frontier.points).toHaveLength(1);
  expect(frontier.bounds).toHaveLength(5);
  expect(frontier.bounds[4]).toMatchObject({ addedP99Ms: 25, isPassed: true, requestsPerS: null });
  const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
  expect(record.overhead.arms[0].levels).toEqual(levels);
  expect(record.policy.gates.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["fail", "pass"]);
  const page = readFileSync(join(folder.path, "run", "report.html"), "utf8");
  expect(page.includes("Highest rate at which slow adds no more than a bound at p99")).toBe(true);
  expect(page.includes("slow adds")).toBe(true);
  expect(page.includes("gauntlet overhead --target ")).toBe(true);
  const again = await gauntlet(["rejudge", "run"], {}, folder.path);
  expect(again.stderr).toMatch(/no recording that could be judged again/);
  expect(again.code).toBe(2);
});

test.each<[what: string, behaviour: Parameters<typeof providerWith>[0], code: number, says: RegExp]>([
  [
    "requests that are lost fail",
    { status: 502, reason: "upstream_error", nth: 7 },
    1,
    /gateway, 1 client, [^\n]*: \d+ of \d+ requests were not served \(\d+ 502\)[\s\S]*^FAIL: /m,
  ],
  [
    "requests that a limit denies leave it open",
    { status: 429, reason: "rate_limit_exceeded", nth: 7 },
    4,
    /requests were not served \(\d+ rate_limit_exceeded\)/,
  ],
  [
    "a gateway that refuses everything is not measured",
    { status: 401, reason: "invalid_api_key", nth: 1 },
    2,
    /gateway served none of \d+ non-streaming requests: invalid_api_key/,
  ],
])("%s", async (_, behaviour, code, says) => {
  using folder = temporaryFolder();
  await using direct = await providerWith(ALWAYS_SERVED);
  await using gateway = await providerWith(behaviour);
  const pair = ofPair(folder.path, direct.origin, gateway.origin);
  const args = ["overhead", ...pair, ...BRIEF, "--no-frontier"];
  const done = await gauntlet(args, KEY, folder.path);
  expect(done.stdout + done.stderr).toMatch(says);
  expect(done.code).toBe(code);
});

test.each([
  ["as fast as the upstream is marked: what it could carry is not known", 5, true],
  ["that carries a third of what the upstream can is not", 15, false],
])("a gateway %s", async (_, everyMs, upstreamBound) => {
  using folder = temporaryFolder();
  await using direct = await providerAtPace(5);
  await using gateway = await providerAtPace(everyMs);
  const pair = ofPair(folder.path, direct.origin, gateway.origin);
  const args = ["overhead", ...pair, ...BRIEF.with(1, "8")];
  const { stdout } = await gauntlet([...args, "--no-frontier", "--json"], KEY, folder.path);
  const document = JSON.parse(stdout);
  expect(document.arms[0].levels).toHaveLength(2);
  for (const level of document.arms[0].levels) {
    expect(level).toMatchObject({ concurrency: 8, errors: 0, upstreamBound });
    expect(level.ceilingPerS).toBeLessThan(250);
  }
});

test("if the upstream itself loses requests, the result is inconclusive", async () => {
  using folder = temporaryFolder();
  const loses = { status: 502, reason: "upstream_error", nth: 7 };
  await using direct = await providerWith(loses);
  await using gateway = await providerWith(loses);
  const pair = ofPair(folder.path, direct.origin, gateway.origin);
  const args = ["overhead", ...pair, ...BRIEF, "--no-frontier"];
  const { code, stdout } = await gauntlet(args, KEY, folder.path);
  expect(stdout).toMatch(/the upstream itself, 1 client, /);
  expect(code).toBe(4);
});

test("a gateway that is its own upstream passes nothing", async () => {
  using folder = temporaryFolder();
  await using gateway = await providerWith(ALWAYS_SERVED);
  const file = targetFile(folder.path, "gateway", gateway.origin);
  const args = ["overhead", "--target", file, "--direct", file, ...BRIEF, "--no-frontier"];
  const { code, stdout } = await gauntlet(args, KEY, folder.path);
  expect(stdout).toMatch(/gateway is the upstream itself/);
  expect(code).toBe(4);
});

test("a gateway is started with a separate upstream, and ends with the measurement", async () => {
  using folder = temporaryFolder();
  // A port that was free a moment ago.
  let origin: string;
  {
    await using free = await providerWith(ALWAYS_SERVED);
    origin = free.origin;
  }
  const program = join(folder.path, "proxy.mjs");
  writeFileSync(
    program,
    `import { createServer, request } from "node:http";
import { writeFileSync } from "node:fs";
const up = new URL(process.env.GAUNTLET_UPSTREAM);
writeFileSync("pid", String(process.pid));
createServer(async (req, res) => {
  const parts = await req.toArray();
  const value = parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts));
  const to = request({ host: up.hostname, port: up.port, path: up.pathname + req.url.slice(3), method: req.method,
    headers: { "content-type": "application/json", authorization: "Bearer of-the-gateway" } }, (from) => {
    res.writeHead(from.statusCode, from.headers);
    from.pipe(res);
  });
  to.end(JSON.stringify({ ...value, model: "of-the-provider" }));
}).listen(${new URL(origin).port}, "127.0.0.1");
`,
  );
  const file = targetFile(folder.path, "proxy", origin);
  const start = `"${process.execPath}" "${program}"`;
  const args = ["overhead", "--target", file, "--start", start, ...BRIEF, "--no-frontier", "--json"];
  const { code, stdout, stderr } = await gauntlet(args, KEY, folder.path);
  expect(stderr).toBe("");
  const document = JSON.parse(stdout);
  // A busy machine may differ from itself.
  expect(code).toBe(document.control.fit ? 0 : 4);
  expect(document.arms[0].levels).toHaveLength(4);
  for (const level of document.arms[0].levels) expect(level.addedMs.p50.value).not.toBeNull();
  // Read from the log of the upstream that was started with it.
  expect(document.arms[0].diagnoses).toContain("It re-serialises request bodies, and edits them: model changed.");
  if (process.platform === "linux") {
    const { cpuS, peakMemoryBytes, peakOpenFiles } = document.arms[0].process;
    expect(cpuS).toBeGreaterThan(0);
    expect(peakMemoryBytes).toBeGreaterThan(20_000_000);
    expect(peakOpenFiles).toBeGreaterThan(10);
  }
  const pid = Number(readFileSync(join(folder.path, "pid"), "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test.each<[what: string, args: readonly string[], code: number, says: RegExp]>([
  ["no gateway", [], 2, /no gateway is named[\s\S]*--target FILE/],
  [
    "no upstream",
    ["--target", "gateway.yaml"],
    2,
    /the upstream that the gateways call is not named[\s\S]*gauntlet upstream/,
  ],
  [
    "two upstreams",
    ["--target", "gateway.yaml", "--upstream", "http://127.0.0.1:1", "--direct", "gateway.yaml"],
    2,
    /--upstream and --direct both name the upstream/,
  ],
  [
    "an upstream on another host",
    ["--target", "gateway.yaml", "--upstream", "https://api.example.com/v1"],
    2,
    /load would go to api\.example\.com, which is not this machine[\s\S]*--direct FILE/,
  ],
  [
    "an upstream that is not an address",
    ["--target", "gateway.yaml", "--upstream", "9100"],
    2,
    /--upstream must be an http/,
  ],
  ["clients that are not numbers", ["--concurrency", "1,few"], 2, /--concurrency: "1,few" is not a list/],
  ["clients beyond any machine", ["--concurrency", "100000"], 2, /--concurrency: "100000" is not a list/],
  ["a process that is not there", ["--pid", "4194305"], 2, /--pid: no process 4194305/],
  ["too few rounds", ["--rounds", "2"], 2, /--rounds: 2 is not a whole number from 4/],
  ["a file that is not there", ["--target", "none.yaml", "--upstream", "http://127.0.0.1:1"], 2, /none\.yaml/],
])("%s", async (_, args, code, says) => {
  using folder = temporaryFolder();
  targetFile(folder.path, "gateway", "http://127.0.0.1:1");
  const done = await gauntlet(["overhead", ...args, "--anyway"], KEY, folder.path);
  expect(done.stderr).toMatch(says);
  expect(done.code).toBe(code);
  expect(existsSync(join(folder.path, "gauntlet-runs"))).toBe(false);
});

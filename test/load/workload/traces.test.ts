// real-time: compares the times at which requests arrive with a schedule
import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";
import { describe, expect, test } from "vitest";
import { scaleTrace } from "../../../src/load/workload/trace.ts";
import { type Arrived, arrivalsOf, azure, burstGpt, mooncake } from "../support/make-traces.ts";
import { promptIn, type SentBody, sentTo } from "../support/upstream-load.ts";

const encoding = new Tiktoken(ranks);
const tokensOf = (body: SentBody) => encoding.encode(promptIn(body)).length;

function sizesOf(bodies: readonly SentBody[]) {
  return bodies.map((body) => [tokensOf(body), body.max_tokens]);
}

/** Requests that arrive close together may be read in another order than they were sent: sorted, none is missing. */
const sorted = (sizes: readonly (readonly number[])[]) => sizes.map((pair) => pair.join(" ")).sort();

function expectReplayed(
  { requests, bodies, phase }: Awaited<ReturnType<typeof sentTo>>,
  expected: readonly Arrived[],
  speed = 1,
) {
  expect(phase).toMatchObject({ offered: expected.length, sent: expected.length, admitted: expected.length });
  expect(sorted(sizesOf(bodies))).toEqual(sorted(expected.map(({ prompt, output }) => [prompt, output])));
  // No request arrives before it is due, or after its response, whose delay since then the run has measured. The first may be
  // late too, and then the others seem early.
  const toleranceMs = 5 + Math.max(...(phase?.classes ?? []).map(({ responseMs }) => responseMs?.max ?? Number.NaN));
  const first = requests[0]?.receivedMs ?? Number.NaN;
  const lags = requests.map(
    ({ receivedMs }, index) => receivedMs - first - (expected[index]?.atMs ?? Number.NaN) / speed,
  );
  expect(Math.min(...lags)).toBeGreaterThan(-toleranceMs);
  expect(Math.max(...lags)).toBeLessThan(toleranceMs);
}

const trace = arrivalsOf(40, { spanMs: 1_200, seed: 3 });

describe.concurrent("a trace is replayed with its arrivals and sizes", () => {
  test.each([
    ["mooncake", mooncake(trace)],
    ["azure", azure(trace)],
    ["burstgpt", burstGpt(trace)],
    ["burstgpt with sessions", burstGpt(trace, true)],
  ])("%s, determined by its first line", async (_format, text) => {
    const replayed = await sentTo({ arrivals: { kind: "replay", file: "t", speed: 2 } }, { files: { t: text } });
    expectReplayed(replayed, trace, 2);
    expect(replayed.run.tokenizer?.vocabulary).toBe("o200k_base");
  });

  test("our format names dialect and mode, others take them from the mix", async () => {
    const own = trace.map(({ atMs, prompt, output }) =>
      JSON.stringify({ offsetMs: atMs, dialect: "messages", stream: true, promptTokens: prompt, maxTokens: output }),
    );
    const arrivals = { kind: "replay", file: "t", format: "gauntlet" };
    const ours = await sentTo({ arrivals }, { files: { t: own.join("\n") } });
    expectReplayed(ours, trace);
    expect(new Set(ours.requests.map(({ path }) => path))).toEqual(
      new Set(["/messages"].map((end) => expect.stringContaining(end))),
    );
    expect(ours.bodies.every(({ stream }) => stream === true)).toBe(true);
    const mix = [{ dialect: "messages", stream: true, model: "special", images: { count: 1, bytes: 1_000 } }];
    const theirs = await sentTo({ arrivals: { ...arrivals, format: "azure" }, mix }, { files: { t: azure(trace) } });
    expectReplayed(theirs, trace);
    expect(theirs.bodies.every(({ model, stream }) => model === "special" && stream === true)).toBe(true);
  });
});

describe.concurrent("the rate of a trace", () => {
  test.each([
    ["is thinned", 12],
    ["is made denser", 60],
  ])("%s to a mean while its span stays", async (_what, ratePerS) => {
    const spanS = (trace.at(-1)?.atMs ?? 0) / 1_000;
    const { phase } = await sentTo(
      { arrivals: { kind: "replay", file: "t", ratePerS } },
      { files: { t: azure(trace) } },
    );
    const lasting = (spanS * trace.length) / (trace.length - 1);
    expect(phase?.sent).toBe(Math.floor(ratePerS * lasting + 1e-6));
    const all = trace.map(({ atMs, prompt, output }) => ({ offsetMs: atMs, promptTokens: prompt, maxTokens: output }));
    const entries = scaleTrace(all, { ratePerS });
    expect(entries.at(-1)?.offsetMs).toBeGreaterThan(spanS * 1_000 * 0.9);
    expect(entries.map(({ offsetMs }) => offsetMs)).toEqual(
      entries.map(({ offsetMs }) => offsetMs).sort((x, y) => x - y),
    );
  });

  test("only its beginning is sent if the number of requests is limited", async () => {
    const { bodies } = await sentTo(
      { arrivals: { kind: "replay", file: "t", requests: 7, speed: 10 } },
      { files: { t: azure(trace) } },
    );
    expect(sorted(sizesOf(bodies))).toEqual(sorted(trace.slice(0, 7).map(({ prompt, output }) => [prompt, output])));
  });
});

test("requests with the same ids of blocks begin with the same text, others do not", async () => {
  const lines = [
    { timestamp: 0, input_length: 1_300, output_length: 4, hash_ids: [7, 8, 9] },
    { timestamp: 10, input_length: 1_536, output_length: 5, hash_ids: [7, 8, 10] },
    { timestamp: 20, input_length: 700, output_length: 6, hash_ids: [11, 12] },
    { timestamp: 30, input_length: 1_200, output_length: 7, hash_ids: [7] },
  ];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const { bodies } = await sentTo({ arrivals: { kind: "replay", file: "t" } }, { files: { t: text } });
  const words = new Map(bodies.map((body) => [body.max_tokens, promptIn(body).split(" ")]));
  const shared = (a: number, b: number) => {
    const [one = [], other = []] = [words.get(a), words.get(b)];
    const first = one.findIndex((word, index) => word !== other[index]);
    return first === -1 ? one.length : first;
  };
  expect(shared(4, 5)).toBeGreaterThanOrEqual(1_024);
  expect(shared(4, 5)).toBeLessThan(1_024 + 6);
  expect(shared(4, 7)).toBeGreaterThanOrEqual(512);
  expect(shared(4, 7)).toBeLessThan(512 + 6);
  expect(shared(4, 6)).toBeLessThan(6);
  expect([4, 5, 6, 7].map((max) => words.get(max)?.length)).toEqual([1_300, 1_536, 700, 1_200]);
});

import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";
import { describe, expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { seededRandom } from "../../../src/core/index.ts";
import { assertRepeatable } from "../../../src/load/external/plan-workload.ts";
import { drawRequest } from "../../../src/load/schedule/draw-request.ts";
import { drawLength, type Lengths, longestOf } from "../../../src/load/workload/lengths.ts";
import { promptOf, promptOfBytes, tokensIn, WORDS } from "../../../src/load/workload/prompt-text.ts";
import type { RequestClass } from "../../../src/load/workload/workload.ts";
import { promptIn, type SentBody, sentTo } from "../support/upstream-load.ts";

const encoding = new Tiktoken(ranks);
const tokensOf = (text: string) => encoding.encode(text).length;

function drawn(lengths: Lengths, count = 20_000): number[] {
  const random = seededRandom(11);
  return Array.from({ length: count }, () => drawLength(lengths, random)).sort((a, b) => a - b);
}

describe("lengths", () => {
  test("uniform: every length of the range, as often as the others", () => {
    const all = drawn({ kind: "uniform", from: 3, to: 7 });
    const counts = [3, 4, 5, 6, 7].map((length) => all.filter((one) => one === length).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(all.length);
    for (const count of counts) expect(Math.abs(count - 4_000)).toBeLessThan(300);
  });

  test("log-normal: its median and its spread, cut at the most and never below 1", () => {
    const all = drawn({ kind: "logNormal", median: 200, sigma: 0.8, most: 1_000 });
    const at = (share: number) => all[Math.floor(all.length * share)] as number;
    expect(Math.abs(at(0.5) - 200)).toBeLessThan(8);
    // One standard deviation to either side, on a logarithmic scale.
    expect(Math.log(at(0.8413) / at(0.1587)) / 2).toBeCloseTo(0.8, 1);
    expect(all.at(-1)).toBe(1_000);
    expect(drawn({ kind: "logNormal", median: 1, sigma: 2, most: 9 })[0]).toBe(1);
  });

  test("empirical: the lengths of the file and no others", () => {
    const all = drawn({ kind: "empirical", lengths: [5, 5, 9] });
    expect(new Set(all)).toEqual(new Set([5, 9]));
    expect(all.filter((one) => one === 5).length / all.length).toBeCloseTo(2 / 3, 1);
  });

  test.each<[Lengths, number]>([
    [12, 12],
    [{ kind: "uniform", from: 1, to: 30 }, 30],
    [{ kind: "logNormal", median: 100, sigma: 1, most: 4_000 }, 4_000],
    [{ kind: "empirical", lengths: [4, 99, 6] }, 99],
  ])("the longest of %j", (lengths, longest) => expect(longestOf(lengths)).toBe(longest));
});

test("the request of an arrival depends on its number and the seed alone", () => {
  const kind = { stream: false, model: undefined, maxTokens: 64, weight: 1 };
  const mix: RequestClass[] = [
    { ...kind, dialect: "chat", promptTokens: { kind: "uniform", from: 1, to: 9_999 } },
    {
      ...kind,
      dialect: "messages",
      promptTokens: 20,
      maxTokens: { kind: "logNormal", median: 99, sigma: 1, most: 999 },
    },
  ];
  const all = Array.from({ length: 500 }, (_, index) => drawRequest({ mix, seed: 4 }, index));
  const share = Array.from({ length: 125 }, (_, index) => drawRequest({ mix, seed: 4 }, index * 4 + 3));
  expect(share).toEqual(all.filter((_, index) => index % 4 === 3));
  expect(drawRequest({ mix, seed: 5 }, 7)).not.toEqual(all[7]);
  const ofChat = all.filter(({ dialect }) => dialect === "chat").length;
  expect(Math.abs(ofChat - 250)).toBeLessThan(60);
});

describe("engines that repeat one body", () => {
  const drawn = { kind: "uniform", from: 1, to: 9 } as const;
  const mix = [
    { dialect: "chat", stream: false, model: "m", promptTokens: drawn, maxTokens: 4, weight: 1 },
  ] satisfies RequestClass[];
  test("reject random lengths, and say what to do", () =>
    expect(() => assertRepeatable({ name: "w", mix }, "k6")).toThrow(
      "k6 cannot send w: the lengths of its requests are random",
    ));
});

describe("the text of a prompt", () => {
  test.each([1, 2, 5, 6, 7, 20, 511, 4_096, 4_097, 10_000])("of %i tokens has exactly that many", (tokens) => {
    expect(tokensOf(promptOf(tokens))).toBe(tokens);
    expect(tokensOf(promptOf(tokens, 123_456))).toBe(tokens);
  });

  test("of a given size has exactly that many bytes, and no more tokens than were counted", () => {
    for (const bytes of [1, 3, 4, 5, 6, 99, 65_537]) {
      expect(Buffer.byteLength(promptOfBytes(bytes))).toBe(bytes);
      // A cut inside a word may make two tokens of it.
      expect(tokensOf(promptOfBytes(bytes))).toBeLessThanOrEqual(tokensIn(bytes) + 1);
    }
  });

  test("differs from that of every other id within six words", () => {
    const begins = Array.from({ length: 5_000 }, (_, id) => promptOf(6, id * 37));
    expect(new Set(begins).size).toBe(5_000);
  });
});

test("every word of a prompt is one token, at the start and after a space", () => {
  for (const word of WORDS) expect([tokensOf(word), tokensOf(` ${word}`)], word).toEqual([1, 1]);
});

const mix = (fields: object) => ({
  arrivals: { kind: "constant", ratePerS: 100, durationS: 0.5 },
  mix: [{ dialect: "chat", ...fields }],
});
const sizesOf = (bodies: readonly SentBody[]) => bodies.map((body) => [tokensOf(promptIn(body)), body.max_tokens]);

describe.concurrent("a mix", () => {
  test("sends prompts of exactly the tokens that it names, and the record names the tokenizer", async () => {
    const { bodies, run } = await sentTo(mix({ promptTokens: 37, maxTokens: 9 }));
    expect(new Set(sizesOf(bodies).map(String))).toEqual(new Set(["37,9"]));
    const version = manifest.devDependencies["js-tiktoken"];
    expect(run.tokenizer).toEqual({ package: "js-tiktoken", version, vocabulary: "o200k_base" });
  });

  test("draws lengths, the same ones with the same seed", async () => {
    const workload = mix({
      promptTokens: { kind: "uniform", from: 10, to: 400 },
      maxTokens: { kind: "empirical", file: "out.txt" },
    });
    const files = { "out.txt": "16\n48\n\n300\n" };
    const [first, again, other] = [
      await sentTo(workload, { files }),
      await sentTo(workload, { files }),
      await sentTo(workload, { files, seed: 6 }),
    ];
    const sizes = sizesOf(first.bodies);
    expect(sizes.every(([prompt = 0]) => prompt >= 10 && prompt <= 400)).toBe(true);
    expect(new Set(sizes.map(([prompt]) => prompt)).size).toBeGreaterThan(30);
    expect(new Set(sizes.map(([, output]) => output))).toEqual(new Set([16, 48, 300]));
    const texts = ({ requests }: typeof first) => requests.map(({ body }) => body).sort();
    expect(texts(again)).toEqual(texts(first));
    expect(texts(other)).not.toEqual(texts(first));
  });

  test("sends bodies of megabytes, with images and tool calls of either dialect", async () => {
    const workload = {
      arrivals: { kind: "closed", inFlight: 1, requests: 2, rampS: 0 },
      mix: [{ dialect: "chat", promptBytes: 2_000_000 }],
    };
    const { requests, phase } = await sentTo(workload);
    expect(phase).toMatchObject({ admitted: 2 });
    for (const { bodyBytes } of requests) expect(bodyBytes - 2_000_000).toBeLessThan(200);
    for (const dialect of ["chat", "messages"]) {
      const fields = { dialect, promptTokens: 12, images: { count: 2, bytes: 3_000 }, toolCalls: 2 };
      const { bodies } = await sentTo({ ...workload, mix: [fields] });
      const [body] = bodies as [SentBody];
      expect(tokensOf(promptIn(body))).toBe(12);
      expect(body.tools).toHaveLength(1);
      const images = [...JSON.stringify(body).matchAll(/(?:base64,|"data":")([A-Za-z0-9+/=]+)/g)];
      const decoded = images.map(([, data = ""]) => Buffer.from(data, "base64"));
      expect(decoded.map((image) => image.length)).toEqual([3_000, 3_000]);
      for (const image of decoded) expect(image.subarray(1, 4).toString()).toBe("PNG");
      expect(body.messages.map(({ role }) => role)).toEqual(
        dialect === "chat"
          ? ["user", "assistant", "tool", "assistant", "tool", "user"]
          : ["user", "assistant", "user", "assistant", "user"],
      );
    }
  });
});

import { describe, expect, test } from "vitest";
import { observationOf, ReadingCache, Response, ResponsePacker } from "../../../src/checks/index.ts";
import type { Mode } from "../../../src/dialects/index.ts";
import type { Exchange } from "../../../src/http/recorder/index.ts";

const RULES = { reasonHeader: "x-service-error-code", actionHeader: "x-service-action" };

function responseWith(
  text: string,
  {
    type = "application/json",
    status = 200,
    cache = new ReadingCache(),
    mode = "non-streaming",
  }: { type?: string; status?: number; cache?: ReadingCache; mode?: Mode } = {},
): Response {
  const bytes = Buffer.byteLength(text);
  const exchange: Exchange = {
    id: "x00001",
    startedAtMs: 0,
    request: { method: "POST", url: "http://g/v1/chat/completions", headers: [["A", "b"]], body: "{}", bodyBytes: 2 },
    key: "valid",
    connection: { id: "c1", earlier: 0 },
    timeline: { dueUs: 0, sentUs: 1, firstByteUs: 2, headersUs: 3, endUs: 4 },
    response: {
      status,
      headers: [
        ["Content-Type", type],
        ["X-Service-Error-Code", "key_revoked"],
      ],
      interim: [],
      trailers: [],
      body: {
        text,
        base64: undefined,
        bytes,
        receivedBytes: bytes,
        reads: 1,
        pieces: [[3, bytes]],
        decodeError: undefined,
      },
    },
    ending: { kind: "complete" },
    ownLagMs: 0,
    afterwards: undefined,
    redactions: [],
  };
  const requested = { endpoint: "chat", mode, intent: "valid", account: "a" } as const;
  return new Response(exchange, requested, { ...RULES, cache });
}

const LONG = "word ".repeat(2_000);
const REPLY = JSON.stringify({ choices: [{ message: { content: LONG } }], usage: { prompt_tokens: 1 } });
const EVENTS = `data: ${JSON.stringify({ choices: [{ delta: { content: LONG } }] })}\n\ndata: [DONE]\n\n`;

/** Everything that a judge can read. */
const readings = (response: Response) => ({
  exchange: response.exchange,
  facts: [response.status, response.admitted, response.streamed, response.reason, response.summary, response.complete],
  text: response.text,
  json: response.json,
  reply: response.reply,
  stream: response.stream,
  error: response.error,
  replyText: response.replyText,
});

describe("a packed response", () => {
  test.each([
    ["a reply", REPLY, {}],
    ["a stream", EVENTS, { type: "text/event-stream" }],
    ["a denial", JSON.stringify({ error: { message: LONG } }), { status: 401 }],
  ])("reads as before, even if many others were read meanwhile: %s", (_what, text, options) => {
    const packer = new ResponsePacker();
    const cache = new ReadingCache();
    const before = readings(responseWith(text, options));
    const packed = Array.from({ length: 40 }, () => responseWith(text, { ...options, cache }));
    for (const response of packed) response.pack(packer);
    for (const round of [1, 2])
      for (const response of packed) expect(readings(response), `round ${round}`).toEqual(before);
  });

  test("drops old readings, and keeps the latest ones", () => {
    const packer = new ResponsePacker();
    const cache = new ReadingCache();
    const packed = Array.from({ length: 40 }, () => responseWith(REPLY, { cache }));
    const unpacked = packed.map(({ json }) => json);
    for (const response of packed) response.pack(packer);
    const first = packed.map(({ json }) => json);
    expect(first.every((json, at) => json !== unpacked[at])).toBe(true);
    expect(packed.at(-1)?.json).toBe(first.at(-1));
    expect(packed[0]?.json).not.toBe(first[0]);
  });

  test.each([
    ["small", REPLY],
    ["large", JSON.stringify({ choices: [{ message: { content: LONG.repeat(20) } }] })],
  ])("keeps its readings, whatever another run in the same process reads: %s", (_what, text) => {
    const [ours, theirs] = [new ReadingCache(), new ReadingCache()];
    const of = (cache: ReadingCache) => {
      const response = responseWith(text, { cache });
      response.pack(new ResponsePacker());
      return response;
    };
    const own = of(ours);
    const { json } = own;
    for (let other = 0; other < 40; other++) void of(theirs).json;
    expect(own.json).toBe(json);
    for (let other = 0; other < 40; other++) void of(ours).json;
    expect(own.json).not.toBe(json);
  });
});

describe("a 2xx that is too large to parse is admitted only if it has output", () => {
  const many = (text: string) => `${text.repeat(300_000)}`;
  test.each<[string, string, string, Mode, string]>([
    ["JSON with a third of a million lists", `[${many("[],")}[]]`, "application/json", "non-streaming", "invalid"],
    ["an HTML page with as many commas", `<html>${many("a, ")}</html>`, "text/html", "non-streaming", "invalid"],
    ["a stream of events without output", many("data: {},\n\n"), "text/event-stream", "streaming", "invalid"],
    [
      "a stream with output and one enormous event",
      `data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [${many("0,")}0]\n\n`,
      "text/event-stream",
      "streaming",
      "admitted",
    ],
  ])("%s", (_name, text, type, mode, outcome) => {
    const response = responseWith(text, { type, mode });
    expect(observationOf(response).outcome).toBe(outcome);
  });
});

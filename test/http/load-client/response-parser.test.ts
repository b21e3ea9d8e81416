import { describe, expect, test } from "vitest";
import { EventScanner } from "../../../src/http/load-client/body/event-scanner.ts";
import { headPattern, headValue } from "../../../src/http/load-client/head-fields.ts";
import { ResponseParser } from "../../../src/http/load-client/response-parser.ts";

interface Parsed {
  readonly status: number;
  readonly body: string;
  readonly ended: boolean;
  readonly reusable: boolean;
  readonly broken: string | undefined;
  readonly surplus: number;
}

/** Feeds a response in the given pieces, each in a buffer with stale bytes after them, like the shared buffer. */
function parse(pieces: readonly string[], close = false): Parsed {
  const seen = {
    status: 0,
    body: "",
    ended: false,
    reusable: false,
    broken: undefined as string | undefined,
    surplus: 0,
  };
  const parser = new ResponseParser({
    onHead: (status) => {
      seen.status = status;
    },
    onBody: (bytes, from, to) => {
      seen.body += bytes.toString("latin1", from, to);
    },
    onEnd: (reusable) => {
      seen.ended = true;
      seen.reusable = reusable;
    },
    onBroken: (why) => {
      seen.broken = why;
    },
  });
  parser.start();
  for (const piece of pieces) {
    const bytes = Buffer.from(`${piece}\r\n\r\nHTTP/1.1 500 old bytes\r\n\r\n0\r\n\r\n`, "latin1");
    seen.surplus += parser.feed(bytes, 0, piece.length);
  }
  if (close) parser.close();
  return seen;
}

const CASES: readonly (readonly [what: string, text: string, status: number, body: string, reusable: boolean])[] = [
  ["a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true],
  ["a length in another case, with blanks", "HTTP/1.1 200 OK\r\ncONTENT-lENGTH:\t 5 \r\n\r\nhello", 200, "hello", true],
  [
    "the same length twice",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    200,
    "hello",
    true,
  ],
  ["no reason phrase", "HTTP/1.1 429 \r\nContent-Length: 0\r\n\r\n", 429, "", true],
  ["no reason phrase and no blank", "HTTP/1.1 429\r\nContent-Length: 0\r\n\r\n", 429, "", true],
  [
    "chunks",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
    200,
    "hello!",
    true,
  ],
  [
    "chunks with extensions, capitals, leading zeros and trailers",
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n00A;x="y"\r\n0123456789\r\n0;last\r\nX-T: 1\r\n\r\n',
    200,
    "0123456789",
    true,
  ],
  [
    "an interim response",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    200,
    "ok",
    true,
  ],
  ["a closing one", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false],
  ["no content", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true],
];

describe("response parser", () => {
  test.each(CASES)("%s, cut at every place", (_what, text, status, body, reusable) => {
    const expected = { status, body, ended: true, reusable, broken: undefined, surplus: 0 };
    expect(parse([text])).toEqual(expected);
    for (let at = 1; at < text.length; at++) {
      expect(parse([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(expected);
    }
    expect(parse([...text]), "byte by byte").toEqual(expected);
  });

  test("without a length the end of the connection is the end of the message", () => {
    const text = "HTTP/1.1 200 OK\r\n\r\nhello";
    expect(parse([text])).toMatchObject({ ended: false });
    expect(parse([text], true)).toMatchObject({ ended: true, body: "hello", reusable: false });
  });

  test("a message that is cut does not end", () => {
    expect(parse(["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"], true)).toMatchObject({
      ended: false,
      body: "hel",
    });
    expect(parse(["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"], true)).toMatchObject({
      ended: false,
    });
  });

  test("bytes beyond the message are reported", () => {
    expect(parse(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!!"])).toMatchObject({ ended: true, surplus: 2 });
  });

  test.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    ["an invalid length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"],
    ["an invalid chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n"],
    ["a chunk that is longer than it says", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n"],
  ])("%s is broken", (_what, text) => {
    expect(parse([text]).broken).toBeTypeOf("string");
  });

  test("repeated fields are one list", () => {
    const head = "HTTP/1.1 429 x\r\nRetry-After: 1\r\nX: y\r\nretry-after: 2\r\n";
    expect(headValue(head, headPattern("Retry-After"))).toBe("1, 2");
    expect(headValue(head, headPattern("Retry"))).toBeUndefined();
  });
});

describe("event scanner", () => {
  const chat = [
    'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n',
    ": a comment\n\n",
    'data: {"choices":[{"delta":{"content":"\\"a"}}]}\n\n',
    'data: {"choices":[{"delta":{"content":"b"}}]}\n\n',
    'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
    'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n',
    "data: [DONE]\n\n",
  ].join("");
  const messages = [
    'event: message_start\ndata: {"type":"message_start","message":{"content":[],"usage":{"output_tokens":1}}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"b","type":"text_delta"}}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join("");

  function scan(pieces: readonly string[]) {
    const scanner = new EventScanner();
    for (const piece of pieces) scanner.feed(piece);
    scanner.end();
    const { events, contentEvents, usageTokens, ended, error } = scanner;
    return { events, contentEvents, usageTokens, ended, error };
  }

  test.each([
    ["chat", chat, 6],
    ["messages", messages, 5],
  ])("%s: the same bytes cut at every place give the same events, with any line end", (_what, text, events) => {
    const expected = { events, contentEvents: 2, usageTokens: 2, ended: true, error: false };
    for (const ends of [text, text.replaceAll("\n", "\r\n")])
      for (let at = 0; at < ends.length; at++) expect(scan([ends.slice(0, at), ends.slice(at)])).toEqual(expected);
  });

  test.each([1, 7, 4_096, 5_000])("a long event in pieces of %s characters is the same as in one", (size) => {
    const long = chat.replace('"content":"b"', `"content":"${"b".repeat(20_000)}"`);
    expect(long.length).toBeGreaterThan(20_000);
    for (const text of [long, long.replaceAll("\n", "\r\n"), long.replaceAll("\n", "\r")]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_none, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      expect(scan(pieces)).toEqual(scan([text]));
      expect(scan(pieces)).toMatchObject({ contentEvents: 2, ended: true });
    }
  });

  test("an error item is seen", () => {
    expect(scan(['data: {"error":{"message":"upstream"}}\n\n']).error).toBe(true);
    expect(scan(['event: error\ndata: {"type":"error","error":{}}\n\n']).error).toBe(true);
  });

  test("JSON items without event framing are events", () => {
    const items = '{"choices":[{"delta":{"content":"a"}}]}\n{"choices":[{"delta":{"content":"b"}}]}';
    expect(scan([items])).toMatchObject({ events: 2, contentEvents: 2 });
  });
});

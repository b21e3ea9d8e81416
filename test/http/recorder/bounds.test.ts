// real-time: compares durations that it measures
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Bounds, type Exchange, ExchangePacker, Recorder } from "../../../src/http/recorder/index.ts";
import { PieceList } from "../../../src/http/recorder/piece-list.ts";
import { rawServer } from "../../support/raw-server.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

interface Sent {
  readonly bounds?: Partial<Bounds>;
  readonly body?: string;
  readonly secrets?: { name: string; value: string }[];
}

async function exchangeWith(
  respond: (socket: Socket) => void | Promise<void>,
  { bounds = {}, body = "{}", secrets = [] }: Sent = {},
): Promise<Exchange> {
  await using server = await rawServer(respond);
  await using recorder = new Recorder({ secrets });
  return await recorder.send({ method: "POST", url: `${server.origin}/v1/x`, headers: [], body }, { bounds });
}

/** Writes as fast as the other side reads, until it disconnects. */
function flood(socket: Socket, bytes: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}

describe("pieces of a response", () => {
  test("beyond the bound neighbours are joined: no byte and no read is lost, times become coarser", () => {
    const list = new PieceList(16);
    for (let at = 0; at < 1_000; at++) list.add(at, Buffer.from(String.fromCharCode(97 + (at % 26))));
    const pieces = list.close();
    expect(list.reads).toBe(1_000);
    expect(pieces.length).toBeLessThanOrEqual(16);
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).toBe(
      Array.from({ length: 1_000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(""),
    );
    // The beginning and the end are unchanged, and what is between them is in order.
    expect([pieces[0]?.atUs, pieces[0]?.bytes.length, pieces.at(-1)?.atUs]).toEqual([0, 1, 999]);
    let end = 0;
    for (const { atUs, bytes } of pieces) {
      end += bytes.length;
      expect(atUs).toBe(end - 1);
    }
    // As coarse at the beginning as at the end: what arrived over seconds must not look as if it had arrived at once.
    expect(Math.max(...pieces.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(128);
  });

  test.each([1, 15, 16, 17, 18, 33, 100])("%d of them: each byte with a time at which it had arrived", (count) => {
    const list = new PieceList(16);
    for (let at = 0; at < count; at++) list.add(at * 10, Buffer.from([at, at]));
    const pieces = list.close();
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes))).toEqual(
      Buffer.from(Array.from({ length: count }, (_, at) => [at, at]).flat()),
    );
    expect(pieces.map(({ bytes }) => (bytes.at(-1) ?? 0) * 10)).toEqual(pieces.map(({ atUs }) => atUs));
    expect(pieces.length).toBe(count <= 16 ? count : pieces.length);
  });

  test("a response in single bytes is complete, with fewer pieces than reads", async () => {
    const text = JSON.stringify({ text: "x".repeat(400) });
    const { ending, response } = await exchangeWith(
      async (socket) => {
        socket.write(CHUNKED);
        for (const byte of text) {
          socket.write(`1\r\n${byte}\r\n`);
          await new Promise(setImmediate);
        }
        socket.write("0\r\n\r\n");
      },
      { bounds: { maxPieces: 16 } },
    );
    expect(ending).toEqual({ kind: "complete" });
    expect(response?.body).toMatchObject({ text, bytes: text.length });
    expect(response?.body.pieces.length).toBeLessThanOrEqual(16);
    expect(response?.body.reads).toBeGreaterThan(16);
    expect(response?.body.pieces.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(text.length);
  });
});

test("an endless response of single bytes is abandoned after 100,000 of them", async () => {
  const { ending, response } = await exchangeWith((socket) => {
    socket.write(CHUNKED);
    flood(socket, "1\r\nx\r\n".repeat(1_000));
  });
  expect(ending).toEqual({ kind: "size-bound", detail: "100000 pieces" });
  expect(response?.body.reads).toBeGreaterThanOrEqual(100_000);
  expect(response?.body.bytes).toBeLessThan(200_000);
  expect(response?.body.pieces.length).toBeLessThanOrEqual(4_096);
});

test("the parser gets at most 8 KiB at a time of a body that arrives in one write", async () => {
  const text = "z".repeat(200_000);
  const { response } = await exchangeWith((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  });
  expect(response?.body.text).toBe(text);
  expect(Math.max(...(response?.body.pieces ?? []).map(([, bytes]) => bytes))).toBeLessThanOrEqual(8 * 1024);
});

describe("what is not a body", () => {
  test.each([
    ["trailers", `2\r\n{}\r\n0\r\n`, `x-filler: ${"a".repeat(1_000)}\r\n`],
    ["the shortest trailers", `2\r\n{}\r\n0\r\n`, "a:b\r\n".repeat(2_000)],
    ["an extension of a chunk", "2;a=", "a".repeat(10_000)],
  ])("endless %s are abandoned soon after 16 KiB", async (_what, start, filler) => {
    let written = 0;
    const { ending } = await exchangeWith((socket) => {
      socket.write(CHUNKED + start);
      flood(socket, filler);
      socket.on("close", () => {
        written = socket.bytesWritten;
      });
    });
    expect(ending).toMatchObject({ kind: "protocol-error" });
    // The socket buffers of both sides hold only some megabytes.
    expect(written).toBeLessThan(16 << 20);
  });

  test("trailers of 12 KB are read", async () => {
    const { ending, response } = await exchangeWith((socket) => {
      socket.write(`${CHUNKED}2\r\n{}\r\n0\r\n${`x-filler: ${"a".repeat(1_000)}\r\n`.repeat(12)}\r\n`);
    });
    expect(ending).toEqual({ kind: "complete" });
    expect(response?.trailers).toHaveLength(12);
  });
});

describe("what was sent", () => {
  const ENOUGH = 256 * 1024;

  test("of a large request, all is sent and the beginning is kept, and the record says so", async () => {
    const body = `{"key":"sk-secret-0123456789abcdef","text":"${"x".repeat(1_000_000)}"}`;
    let received = 0;
    const { request } = await exchangeWith(
      (socket) => {
        received = socket.bytesRead;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      },
      { body, secrets: [{ name: "key.valid", value: "sk-secret-0123456789abcdef" }] },
    );
    expect(received).toBeGreaterThan(body.length);
    expect(request).toMatchObject({ bodyBytes: body.length, truncated: true });
    expect(request.body).toHaveLength(ENOUGH);
    expect(request.body).not.toContain("0123456789abcdef");
  });

  test("one that is filled with plain text is sent with its length, and its beginning is kept", async () => {
    const { before, after } = { before: '{"é":"', after: '"}' };
    const fillBytes = 3_000_001;
    await using server = await rawServer((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    await using recorder = new Recorder({ secrets: [] });
    const { ending, request } = await recorder.send({
      method: "POST",
      url: `${server.origin}/v1/x`,
      headers: [],
      body: { before, fillBytes, after },
    });
    const [head = "", body = ""] = Buffer.from(server.requests[0] ?? "", "latin1")
      .toString("utf8")
      .split("\r\n\r\n");
    expect(ending).toEqual({ kind: "complete" });
    expect(head.match(/content-length: *\d+|transfer-encoding/gi)).toEqual([`content-length: ${fillBytes + 9}`]);
    expect(body).toBe(`${before}${"lorem ipsum ".repeat(250_001).slice(0, fillBytes)}${after}`);
    expect(request).toMatchObject({ bodyBytes: fillBytes + 9, truncated: true });
    expect(request.body).toBe(body.slice(0, ENOUGH - 1));
  });

  test("one within the bound is kept completely", async () => {
    const body = "y".repeat(ENOUGH);
    const { request } = await exchangeWith(
      (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
      { body },
    );
    expect(request.body).toBe(body);
    expect(request).not.toHaveProperty("truncated");
  });
});

describe("a response beyond its bound", () => {
  const MUCH = Buffer.alloc(9 * 1024 * 1024, "z");

  test.each([
    ["as it is", "", MUCH],
    ["compressed", "content-encoding: br\r\n", brotliCompressSync(MUCH)],
  ])("has its beginning kept, and is counted: %s", async (_how, field, bytes) => {
    const { ending, response } = await exchangeWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${field}content-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    expect(ending.kind).toBe("size-bound");
    expect(response?.body.text).toBe("z".repeat(256 * 1024));
    expect(response?.body.bytes).toBeGreaterThan(8 * 1024 * 1024);
  });

  test("ends with a complete character: our truncation does not produce malformed UTF-8", async () => {
    const bytes = Buffer.from(`a${"é".repeat(5 * 1024 * 1024)}`);
    const { response } = await exchangeWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    expect(response?.body.base64).toBeUndefined();
    expect(response?.body.text).toBe(`a${"é".repeat(128 * 1024 - 1)}`);
  });
});

describe("a packed exchange", () => {
  test.each([
    ["small", "{}", Buffer.from("{}")],
    ["large", "é\ud83d\ude00\u0000".repeat(5_000), Buffer.from("é".repeat(50_000))],
    ["no UTF-8", "{}", Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 256))],
  ])("reads as before: %s", async (_what, body, reply) => {
    const exchange = await exchangeWith(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\ncontent-length: ${reply.length}\r\n\r\n`);
        socket.write(reply);
      },
      { body },
    );
    const packer = new ExchangePacker();
    const { exchange: packed } = packer.pack(exchange);
    expect(packed).toEqual(exchange);
    expect(JSON.parse(JSON.stringify(packed))).toEqual(JSON.parse(JSON.stringify(exchange)));
    expect(packer.pack(packed).exchange).toEqual(exchange);
  });

  test("a long value is shared only by fields of the same name", async () => {
    const value = "v".repeat(8_000);
    const one = await exchangeWith((socket) => {
      socket.write(`HTTP/1.1 204 No\r\nX-A: ${value}\r\nX-B: ${value}\r\nX-A: ${value}\r\n\r\n`);
    });
    const { headers = [] } = new ExchangePacker().pack(one).exchange.response ?? {};
    expect(headers).toEqual([
      ["X-A", value],
      ["X-B", value],
      ["X-A", value],
    ]);
    expect(headers[2]).toBe(headers[0]);
  });

  test("fields that are equal in two exchanges are stored once", async () => {
    const one = await exchangeWith((socket) => void socket.write("HTTP/1.1 204 No\r\nX-A: 1\r\n\r\n"));
    const packer = new ExchangePacker();
    const [{ exchange: first }, { exchange: second }] = [packer.pack(one), packer.pack(structuredClone(one))];
    expect(first.response?.headers[0]).toBe(second.response?.headers[0]);
    expect(first.response?.headers).toEqual([["X-A", "1"]]);
  });
});

describe("a head", () => {
  test("with more fields than a client reads ends the exchange, as a bound of ours", async () => {
    const fields = "retry-after: 1\r\n".repeat(5_000);
    const { ending } = await exchangeWith((socket) => {
      socket.write(`HTTP/1.1 429 No\r\n${fields}content-length: 2\r\n\r\n{}`);
    });
    expect(ending).toEqual({ kind: "size-bound", detail: "over 2000 header fields" });
  });

  test("whose status line never ends is abandoned, instead of being read until the deadline", async () => {
    const { ending } = await exchangeWith((socket) => {
      socket.write("HTTP/1.1 200 ");
      const flood = () => {
        while (socket.writable && socket.write("a".repeat(65_536)));
      };
      socket.on("drain", flood).on("error", () => undefined);
      flood();
    });
    expect(ending).toEqual({ kind: "size-bound", detail: "over 512 KiB before the end of the head" });
  });

  const WAYS: Readonly<Record<string, (socket: Socket, head: string) => Promise<void>>> = {
    "in one piece": async (socket, head) => void socket.write(`${head}{}`),
    "with its end in a separate piece": async (socket, head) => {
      socket.write(head.slice(0, -2));
      await wait(50);
      socket.write("\r\n{}");
    },
    "in pieces that end in its line breaks": async (socket, head) => {
      for (let at = 0; at < head.length; at += 2_001) {
        socket.write(head.slice(at, at + 2_001));
        await wait(1);
      }
      socket.write("{}");
    },
  };

  test.each(Object.keys(WAYS))("of 2,000 fields is read, and one more is too many: %s", async (way) => {
    const sent = (fields: number) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${"abcde: f\r\n".repeat(fields - 1)}\r\n`;
      return exchangeWith((socket) => WAYS[way]?.(socket, head));
    };
    const { ending, response } = await sent(2_000);
    expect(ending).toEqual({ kind: "complete" });
    expect(response?.headers).toHaveLength(2_000);
    expect((await sent(2_001)).ending).toEqual({ kind: "size-bound", detail: "over 2000 header fields" });
  });

  test("of interim responses is bounded in size", async () => {
    let sentBytes = 0;
    const hints = `HTTP/1.1 103 Early Hints\r\nlink: <${"a".repeat(60_000)}>\r\n\r\n`;
    const { ending, response } = await exchangeWith((socket) => {
      flood(socket, hints);
      socket.on("close", () => {
        sentBytes = socket.bytesWritten;
      });
    });
    expect([ending.kind, response]).toEqual(["size-bound", undefined]);
    expect(sentBytes).toBeLessThan(20_000_000);
  });
});

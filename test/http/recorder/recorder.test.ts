// real-time: compares durations that it measures
import type { Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Exchange, Recorder, type SendOptions } from "../../../src/http/recorder/index.ts";
import { rawServer, response } from "../../support/raw-server.ts";

const chunk = (bytes: Buffer | string) => {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
};
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n";

async function exchangeWith(
  respond: (socket: Socket) => void | Promise<void>,
  options: SendOptions = {},
  secrets: { name: string; value: string }[] = [],
): Promise<Exchange> {
  await using server = await rawServer(respond);
  await using recorder = new Recorder({ secrets });
  return await recorder.send(
    { method: "POST", url: `${server.origin}/v1/x`, headers: [["X-Odd-CASE", "1"]], body: "{}" },
    options,
  );
}

describe("what a gateway does becomes a fact", () => {
  test("a plain response: status, headers in their letter case, body, timeline in order", async () => {
    const got = await exchangeWith((socket) => void socket.write(response("{}", { headers: "X-ReQuest-Id: 7\r\n" })));
    expect(got.ending).toEqual({ kind: "complete" });
    expect(got.response?.status).toBe(200);
    expect(got.response?.headers).toContainEqual(["X-ReQuest-Id", "7"]);
    expect(got.response?.body).toMatchObject({ text: "{}", bytes: 2, receivedBytes: 2 });
    const { dueUs, sentUs = 0, firstByteUs = 0, headersUs = 0, endUs } = got.timeline;
    expect([dueUs, sentUs, firstByteUs, headersUs, endUs]).toEqual(
      [dueUs, sentUs, firstByteUs, headersUs, endUs].toSorted((a, b) => a - b),
    );
  });

  test("interim responses are skipped, even an unrequested 100 that is written byte by byte", async () => {
    const got = await exchangeWith(async (socket) => {
      const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
      for (const byte of interim + response("[1]")) {
        socket.write(byte);
        await new Promise(setImmediate);
      }
    });
    expect(got.ending).toEqual({ kind: "complete" });
    expect(got.response).toMatchObject({ status: 200, interim: [100, 103] });
    expect(got.response?.body.text).toBe("[1]");
  });

  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("%s is undone and pieces keep their arrival", async (coding, compress) => {
    const text = "abc".repeat(1_000);
    const packed = compress(text);
    const got = await exchangeWith(async (socket) => {
      socket.write(`${CHUNKED}content-encoding: ${coding}\r\n\r\n`);
      socket.write(chunk(packed.subarray(0, 10)));
      await new Promise((done) => setTimeout(done, 30));
      socket.write(Buffer.concat([chunk(packed.subarray(10)), chunk("")]));
    });
    expect(got.response?.body).toMatchObject({
      text,
      bytes: 3_000,
      receivedBytes: packed.length,
      decodeError: undefined,
    });
  });

  test.each<[string, (socket: Socket) => void, Partial<Exchange["ending"]>]>([
    ["closed without a byte", (socket) => void socket.end(), { kind: "reset" }],
    ["reset without a byte", (socket) => void socket.resetAndDestroy(), { kind: "reset" }],
    [
      "cut inside a declared length",
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"),
      { kind: "reset" },
    ],
    ["cut between chunks", (socket) => void socket.end(`${CHUNKED}\r\n${chunk("abc")}`), { kind: "reset" }],
    ["not HTTP", (socket) => void socket.end("SSH-2.0-x\r\n\r\n"), { kind: "protocol-error" }],
    [
      "both length and chunks",
      (socket) => void socket.end(`${CHUNKED}content-length: 3\r\n\r\n${chunk("abc")}${chunk("")}`),
      { kind: "protocol-error" },
    ],
    ["a bad chunk size", (socket) => void socket.end(`${CHUNKED}\r\nzz\r\nabc\r\n`), { kind: "protocol-error" }],
    [
      "delimited by the end of the connection",
      (socket) => void socket.end("HTTP/1.1 200 OK\r\n\r\nabc"),
      { kind: "complete" },
    ],
    [
      "a body that is not gzip",
      (socket) => void socket.end(response("{}", { headers: "content-encoding: gzip\r\n" })),
      { kind: "complete" },
    ],
  ])("%s", async (_what, respond, ending) => {
    const got = await exchangeWith(respond);
    expect(got.ending).toMatchObject(ending);
  });

  test("bytes beyond the declared length are noted on the exchange before them", async () => {
    const got = await exchangeWith((socket) => void socket.write(`${response("{}")}stray`));
    expect(got.ending.kind).toBe("complete");
    expect(got.afterwards).toMatch(/protocol|bad response/);
  });

  test("nothing listens", async () => {
    await using recorder = new Recorder({ secrets: [] });
    const got = await recorder.send({ method: "GET", url: "http://127.0.0.1:9/", headers: [] });
    expect(got.ending).toMatchObject({ kind: "unreachable", detail: expect.stringContaining("ECONNREFUSED") });
    expect(got.timeline.sentUs).toBeUndefined();
  });

  test("broken UTF-8 is kept byte for byte", async () => {
    const got = await exchangeWith((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n");
      socket.write(Buffer.from([0x22, 0xe4, 0x22]));
    });
    expect(got.response?.body).toMatchObject({
      text: undefined,
      base64: Buffer.from([0x22, 0xe4, 0x22]).toString("base64"),
    });
  });
});

describe("bounds", () => {
  test.each<[string, (socket: Socket) => void, SendOptions["bounds"], string]>([
    ["no response", () => undefined, { deadlineMs: 60 }, "deadline"],
    ["silence after the head", (socket) => void socket.write(`${CHUNKED}\r\n`), { idleMs: 60 }, "idle-timeout"],
    ["an endless response", flood, { maxBodyBytes: 10_000 }, "size-bound"],
    ["a decompression bomb", (socket) => void socket.write(bomb()), { maxBodyBytes: 100_000 }, "size-bound"],
  ])("%s", async (_what, respond, bounds, ending) => {
    const got = await exchangeWith(respond, { bounds: bounds ?? {} });
    expect(got.ending.kind).toBe(ending);
  });

  test.each([
    ["silence", { idleMs: 200 }],
    ["time", { deadlineMs: 200 }],
  ] as const)("%s while this process stalled does not count", async (_what, bounds) => {
    const got = await exchangeWith(
      (socket) => {
        socket.write(`${CHUNKED}\r\n${chunk("one").toString("latin1")}`);
        setTimeout(() => socket.write(`${chunk("two").toString("latin1")}0\r\n\r\n`), 20);
        setTimeout(() => {
          const untilMs = performance.now() + 500;
          while (performance.now() < untilMs);
        }, 5);
      },
      { bounds },
    );
    expect(got.ending).toEqual({ kind: "complete" });
    expect(got.ownLagMs).toBeGreaterThan(300);
  });

  function flood(socket: Socket): void {
    socket.write(`${CHUNKED}\r\n`);
    const more = setInterval(() => (socket.writable ? socket.write(chunk("x".repeat(1_000))) : clearInterval(more)), 1);
  }

  function bomb(): Buffer {
    const packed = gzipSync(Buffer.alloc(5_000_000));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), packed]);
  }
});

describe("connections", () => {
  test("idle ones are reused, fresh ones are opened on request, and each exchange says which", async () => {
    await using server = await rawServer((socket) => void socket.write(response("{}")));
    await using recorder = new Recorder({ secrets: [] });
    const request = { method: "GET", url: `${server.origin}/`, headers: [] };
    const first = await recorder.send(request);
    const second = await recorder.send(request);
    const third = await recorder.send(request, { freshConnection: true });
    expect(second.connection).toEqual({ id: first.connection.id, earlier: 1 });
    expect(third.connection.id).not.toBe(first.connection.id);
    expect(server.connections()).toBe(2);
  });

  test("an abort midway closes the connection", async () => {
    let closed: () => void;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    await using server = await rawServer((socket) => {
      socket.on("close", () => closed());
      socket.write(`${CHUNKED}\r\n${chunk("one").toString("latin1")}`);
    });
    await using recorder = new Recorder({ secrets: [] });
    const live = recorder.start({ method: "GET", url: `${server.origin}/`, headers: [] });
    expect(await live.started).toBe(true);
    live.abort();
    expect((await live.done).ending.kind).toBe("aborted");
    await gone;
  });

  test("header names and duplicates go out as given", async () => {
    await using server = await rawServer((socket) => void socket.write(response("{}")));
    await using recorder = new Recorder({ secrets: [] });
    await recorder.send({
      method: "POST",
      url: `${server.origin}/v1/x?q=1`,
      headers: [
        ["X-Odd-CASE", "1"],
        ["x-two", "ä"],
      ],
      body: "ü",
    });
    expect(server.requests[0]).toContain("X-Odd-CASE: 1\r\n");
    expect(server.requests[0]).toContain("x-two: \xe4\r\n");
    expect(server.requests[0]).toMatch(/^POST \/v1\/x\?q=1 HTTP\/1.1\r\n[\s\S]*content-length: 2\r\n\r\n/);
  });
});

describe("redaction", () => {
  const secret = "sk-canary-0123456789abcdefghij";
  const secrets = [{ name: "key.valid", value: secret }];

  test("a secret is masked in headers, URL and bodies before anything is recorded, with unchanged lengths", async () => {
    await using server = await rawServer((socket) => {
      const leak = {
        plain: secret,
        part: secret.slice(0, 24),
        packed: Buffer.from(`a${secret}`).toString("base64"),
        url: encodeURIComponent(`/${secret}`),
      };
      socket.write(response(JSON.stringify(leak), { headers: `x-leak: ${secret}\r\n` }));
    });
    await using recorder = new Recorder({ secrets });
    const got = await recorder.send({
      method: "POST",
      url: `${server.origin}/?key=${secret}`,
      headers: [["Authorization", `Bearer ${secret}`]],
      body: JSON.stringify({ user: secret }),
      key: "valid",
    });
    const kept = JSON.stringify(got);
    for (let at = 0; at + 20 <= secret.length; at++) expect(kept).not.toContain(secret.slice(at, at + 20));
    expect(kept).not.toContain(Buffer.from(secret).toString("base64").slice(2, 20));
    expect(got.request.headers).toEqual([["Authorization", `Bearer [key.valid]${"*".repeat(secret.length - 11)}`]]);
    expect(got.response?.body.text).toHaveLength(got.response?.body.bytes ?? -1);
    expect(got.redactions).toContainEqual({
      secret: "key.valid",
      whole: true,
      form: "plain",
      place: "response-headers",
    });
    expect(got.redactions).toContainEqual({ secret: "key.valid", whole: false, form: "plain", place: "response-body" });
  });
});

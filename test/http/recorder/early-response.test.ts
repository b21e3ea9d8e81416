// real-time: compares durations that it measures
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { Sender } from "../../../src/http/load-client/sender.ts";
import { Recorder } from "../../../src/http/recorder/index.ts";
import { response } from "../../support/raw-server.ts";

const ROUNDS = 30;
const BODY = '{"error":{"message":"no such key"}}';
const DENIAL = response(BODY, { status: "401 Unauthorized", headers: "connection: close\r\n" });

/**
 * Acts as soon as the head of a request has arrived, and does not read its body. A separate process: in the client's event loop,
 * the connection would never close between two of its writes.
 */
async function earlyServer(onHead: string) {
  const script = `
    const server = require("node:net").createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => { socket.pause(); ${onHead} });
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return {
    origin: `http://127.0.0.1:${String(port).trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

const RESPOND_AND_CLOSE = `socket.write(${JSON.stringify(DENIAL)}, () => socket.destroy());`;

const inRounds = async <T>(round: () => Promise<T>): Promise<T[]> => {
  const seen: T[] = [];
  for (let count = 0; count < ROUNDS; count++) seen.push(await round());
  return seen;
};

describe("a response that arrives before the request is read", () => {
  test.each<[string, object]>([
    ["a body of 12 MB that is written at once", { body: "x".repeat(12_000_000) }],
    ["a body that is made while it is sent", { body: { before: "", fillBytes: 3_000_000, after: "" } }],
    ["a small body in chunks", { body: "x".repeat(20_000), pieces: 20 }],
  ])("is recorded completely: %s", async (_what, sent) => {
    await using server = await earlyServer(RESPOND_AND_CLOSE);
    await using recorder = new Recorder({ secrets: [] });
    const seen = await inRounds(async () => {
      const request = { method: "POST", url: `${server.origin}/v1/x`, headers: [], ...sent };
      const { ending, response: got } = await recorder.send(request);
      return [ending.kind, ending.detail, got?.status, got?.body.text];
    });
    expect(seen).toEqual(Array(ROUNDS).fill(["complete", undefined, 401, BODY]));
  });

  test("one that never arrives is a reset, with the failed write as its cause", async () => {
    await using server = await earlyServer("socket.destroy();");
    await using recorder = new Recorder({ secrets: [] });
    const body = { before: "", fillBytes: 12_000_000, after: "" };
    const got = await recorder.send({ method: "POST", url: `${server.origin}/v1/x`, headers: [], body });
    expect(got.response).toBeUndefined();
    expect(got.ending).toMatchObject({ kind: "reset", detail: expect.stringMatching(/EPIPE|ECONNRESET/) });
  });

  test("the connection of a partially sent request is not reused", async () => {
    await using server = await earlyServer(`socket.write(${JSON.stringify(response("{}"))});`);
    await using recorder = new Recorder({ secrets: [] });
    const url = `${server.origin}/v1/x`;
    const first = await recorder.send({ method: "POST", url, headers: [], body: "x".repeat(12_000_000) });
    const second = await recorder.send({ method: "GET", url, headers: [] });
    expect([first.ending.kind, second.ending.kind]).toEqual(["complete", "complete"]);
    expect(second.connection.id).not.toBe(first.connection.id);
  });

  test("without an end is aborted, and the rest of the request with it", async () => {
    const head = "HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\n\\r\\n";
    await using server = await earlyServer(`socket.write("${head}data: 1\\n\\n");`);
    await using recorder = new Recorder({ secrets: [] });
    const request = { method: "POST", url: `${server.origin}/v1/x`, headers: [], body: "x".repeat(12_000_000) };
    const { ending } = await recorder.send(request, { bounds: { idleMs: 200 } });
    expect(ending.kind).toBe("idle-timeout");
    // The close of the socket reaches the parser in a later turn; an error in it would be an uncaught one.
    await new Promise((resolve) => setTimeout(resolve, 100));
  });

  test("the load engine reads it as well", async () => {
    await using server = await earlyServer(RESPOND_AND_CLOSE);
    await using sender = new Sender({ url: server.origin, maxConnections: 4, deadlineMs: 10_000 });
    const body = "x".repeat(12_000_000);
    const bytes = Buffer.from(`POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    const prepared = {
      url: "http://127.0.0.1:1/v1/chat/completions",
      dialect: "chat",
      stream: false,
      bytes,
      key: "valid",
      capture: false,
    } as const;
    const seen = await inRounds(async () => {
      const { status, ending } = await new Promise<LoadExchange>((resolve) => {
        sender.send(prepared, 0, resolve);
      });
      return [status, ending];
    });
    expect(seen).toEqual(Array(ROUNDS).fill([401, "complete"]));
  });
});

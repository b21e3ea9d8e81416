// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import { jsonOf, keepAlive } from "./support/client.ts";
import { CHAT, startFixture } from "./support/gateway-fixture.ts";

const turn = (content: unknown) => JSON.stringify({ model: "echo-fast", messages: [{ role: "user", content }] });

describe("an unusable body is the caller's error, and the connection stays open", () => {
  test.each<[string, string | Buffer, number]>([
    ["nothing", "", 400],
    ["truncated", '{"model":"echo-fast","mess', 400],
    ["not JSON", "model=echo-fast", 400],
    ["an array", "[]", 400],
    ["a string", '"hello"', 400],
    ["a number", "7", 400],
    ["null", "null", 400],
    ["two documents", '{"a":1}{"b":2}', 400],
    ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ["deeply nested", `{"model":"echo-fast","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, 400],
    ["deeply nested and truncated", "[".repeat(20_000), 400],
    ["without model", '{"messages":[{"role":"user","content":"hi"}]}', 400],
    ["with a number for the model", '{"model":7,"messages":[{"role":"user","content":"hi"}]}', 400],
    ["without messages", '{"model":"echo-fast"}', 400],
    ["with no messages", '{"model":"echo-fast","messages":[]}', 400],
    ["with a string for the messages", '{"model":"echo-fast","messages":"hi"}', 400],
    ["with a string for a turn", '{"model":"echo-fast","messages":["hi"]}', 400],
    ["with a turn without role", '{"model":"echo-fast","messages":[{"content":"hi"}]}', 400],
    ["with a turn of an unknown role", '{"model":"echo-fast","messages":[{"role":"king","content":"hi"}]}', 400],
    ["with a turn without content", '{"model":"echo-fast","messages":[{"role":"user"}]}', 400],
    ["with a number for the content", turn(7), 400],
    ["with an image", turn([{ type: "image_url", image_url: { url: "data:," } }]), 400],
    ["with a word for stream", '{"model":"echo-fast","stream":"yes","messages":[{"role":"user","content":"hi"}]}', 400],
    ["with two choices", '{"model":"echo-fast","n":2,"messages":[{"role":"user","content":"hi"}]}', 400],
    ["too large", turn("x".repeat(70_000)), 413],
    ["far too large", turn("x".repeat(300_000)), 413],
  ])("%s", async (_name, body, status) => {
    await using fixture = await startFixture({ bodyLimitBytes: 65_536 });
    const agent = keepAlive();
    for (const path of ["/chat/completions", "/messages"]) {
      const startMs = performance.now();
      const reply = await fixture.send({ path, body, method: "POST", agent });
      expect(performance.now() - startMs).toBeLessThan(1_000);
      expect(reply).toMatchObject({ status, end: "complete" });
      expect(reply.headers["x-service-error-code"]).not.toBe("model_not_found");
      const { error } = jsonOf(reply);
      expect(error.message).not.toMatch(/\n\s+at |node:|Unexpected token/);
    }
    const after = await fixture.chat({}, { agent });
    expect(after.status).toBe(200);
    const { arrivals } = await fixture.admin("GET", "/traffic");
    expect(new Set(arrivals.map((arrival: { connectionId: number }) => arrival.connectionId)).size).toBe(1);
    agent.destroy();
  });

  test.each([
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON", 200],
    ["application/vnd.api+json", 200],
  ])("labelled %s", async (type, status) => {
    await using fixture = await startFixture();
    expect((await fixture.chat({}, { headers: { "Content-Type": type } })).status).toBe(status);
  });

  test("compressed bodies are refused", async () => {
    await using fixture = await startFixture();
    expect((await fixture.chat({}, { headers: { "Content-Encoding": "gzip" } })).status).toBe(415);
  });

  test("unknown fields are ignored, whatever their names", async () => {
    await using fixture = await startFixture();
    const body = `{"__proto__":{"stream":true},"constructor":1,"temperature":2,${JSON.stringify(CHAT).slice(1)}`;
    const reply = await fixture.send({ path: "/chat/completions", body });
    expect(jsonOf(reply).choices[0].message.content).toBe("Say hello");
  });
});

describe("paths and methods", () => {
  test.each([
    ["GET", "/nothing", 404, "not_found", undefined],
    ["POST", "/nothing", 404, "not_found", undefined],
    ["GET", "/v1/models", 404, "not_found", undefined],
    ["GET", "/models/echo-fast", 404, "not_found", undefined],
    ["GET", "/%zz", 404, "not_found", undefined],
    ["GET", "/chat/completions", 405, "method_not_allowed", "POST, OPTIONS"],
    ["DELETE", "/messages", 405, "method_not_allowed", "POST, OPTIONS"],
    ["POST", "/models", 405, "method_not_allowed", "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/models", 405, "method_not_allowed", "GET, HEAD, OPTIONS"],
    ["OPTIONS", "/models", 204, undefined, "GET, HEAD, OPTIONS"],
    ["HEAD", "/models", 200, undefined, undefined],
    ["GET", "/models/", 200, undefined, undefined],
    ["GET", "/models?limit=1", 200, undefined, undefined],
  ])("%s %s", async (method, path, status, reason, allow) => {
    await using fixture = await startFixture();
    const reply = await fixture.send({ method, path, ...(method === "POST" ? { body: {} } : {}) });
    expect(reply).toMatchObject({ status, end: "complete" });
    expect([reply.headers["x-service-error-code"], reply.headers["allow"]]).toEqual([reason, allow]);
    expect(reply.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("HEAD tells the length of GET and sends nothing", async () => {
    await using fixture = await startFixture();
    const get = await fixture.send({ path: "/models" });
    const head = await fixture.send({ path: "/models", method: "HEAD" });
    expect(head.headers["content-length"]).toBe(String(get.bytes.length));
    expect(head.bytes.length).toBe(0);
  });

  test("bytes that are not HTTP get a response in JSON", async () => {
    await using fixture = await startFixture();
    const { connect } = await import("node:net");
    const { port } = new URL(fixture.ready.baseUrl);
    const response = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.write("NONSENSE\r\n\r\n"));
      socket.on("data", (bytes) => {
        text += bytes.toString();
      });
      socket.on("close", () => resolve(text));
    });
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(response.split("\r\n\r\n")[1] ?? "").error.type).toBe("invalid_request_error");
  });
});

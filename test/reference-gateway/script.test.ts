import { describe, expect, test } from "vitest";
import {
  type ScriptedRequest,
  type ScriptedResponse,
  startGateway,
  type Turn,
} from "../../src/reference-gateway/index.ts";

interface Seen {
  readonly arrived: ScriptedRequest[];
  readonly ended: [request: ScriptedRequest, response: ScriptedResponse][];
}

async function scripted(turn: Turn) {
  const seen: Seen = { arrived: [], ended: [] };
  const gateway = await startGateway({
    script: {
      turn: () => turn,
      arrived: (request) => void seen.arrived.push(request),
      ended: (request, response) => void seen.ended.push([request, response]),
    },
  });
  const { baseUrl, keys } = gateway.ready;
  const send = (body: object, init: RequestInit = {}, key = keys.valid) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "any-name", messages: [{ role: "user", content: "x" }], ...body }),
      redirect: "manual",
      ...init,
    });
  return { gateway, send, seen, ended: () => expect.poll(() => seen.ended.length).toBe(1) };
}

describe("a scripted gateway", () => {
  test("serves its own text, whatever the model is called", async () => {
    const { gateway, send, seen, ended } = await scripted({ do: "serve", text: "as written" });
    await using _ = gateway;
    const reply = (await (await send({})).json()) as { choices: { message: { content: string } }[] };
    expect(reply.choices[0]?.message.content).toBe("as written");
    await ended();
    expect(seen.arrived[0]).toMatchObject({ endpoint: "chat", method: "POST", stream: false });
    expect(seen.ended[0]?.[1]).toMatchObject({ status: 200, outcome: "complete", reason: undefined });
    expect(seen.ended[0]?.[1].body).toContain("as written");
  });

  test("refuses with the given Retry-After, or without one", async () => {
    const hinted = await scripted({ do: "refuse", reason: "rate_limit_exceeded", retryAfter: "soon" });
    await using _ = hinted.gateway;
    const denied = await hinted.send({ stream: true });
    expect([denied.status, denied.headers.get("retry-after")]).toEqual([429, "soon"]);
    expect(denied.headers.get("x-service-error-code")).toBe("rate_limit_exceeded");
    const bare = await scripted({ do: "refuse", reason: "upstream_error", status: 503 });
    await using __ = bare.gateway;
    const failed = await bare.send({});
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, null]);
  });

  test("cuts a stream after that many pieces, whatever the request allows", async () => {
    const { gateway, send, seen, ended } = await scripted({ do: "serve", text: "a b c d e f", cutAfter: 3 });
    await using _ = gateway;
    const response = await send({ stream: true, max_tokens: 1 });
    await expect(response.text()).rejects.toThrow();
    await ended();
    const [, sent] = seen.ended[0] ?? [];
    expect(sent?.outcome).toBe("broken");
    expect([...(sent?.body ?? "").matchAll(/"content":"(\w) "/g)].map(([, letter]) => letter)).toEqual(["a", "b", "c"]);
  });

  test("stays silent until the client leaves", async () => {
    const { gateway, send, seen, ended } = await scripted({ do: "silence" });
    await using _ = gateway;
    const left = new AbortController();
    const requested = send({}, { signal: left.signal });
    await expect.poll(() => seen.arrived.length).toBe(1);
    left.abort();
    await expect(requested).rejects.toThrow();
    await ended();
    expect(seen.ended[0]?.[1]).toMatchObject({ outcome: "interrupted", beganMs: undefined });
  });

  test("redirects, and does not touch invalid requests", async () => {
    const { gateway, send, seen } = await scripted({ do: "redirect", to: "http://localhost:1/v1" });
    await using _ = gateway;
    const sent = await send({});
    expect([sent.status, sent.headers.get("location")]).toEqual([307, "http://localhost:1/v1"]);
    const wrong = await send({}, {}, "gk-never-issued");
    expect(wrong.status).toBe(401);
    await expect.poll(() => seen.ended.map(([, { reason }]) => reason)).toEqual([undefined, "invalid_api_key"]);
  });
});

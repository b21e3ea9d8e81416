// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/upstream/index.ts";
import { chat, dataOf, upstreamOf } from "./support.ts";

describe("replies", () => {
  test("in the chat dialect, with cached tokens among the prompt's", async () => {
    await using upstream = await upstreamOf({
      providers: { one: { models: { m: { pieces: 3, pieceBytes: 4, usage: { input: 20, cached: 15 } } } } },
    });
    const reply = await (await upstream.post("chat/completions", chat("m"))).json();
    expect(reply).toMatchObject({
      model: "m",
      choices: [{ message: { content: "w0- w1- w2- " }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 3,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 15 },
      },
    });
    const options = { stream: true, stream_options: { include_usage: true } };
    const events = dataOf(await (await upstream.post("chat/completions", chat("m", options))).text());
    const chunks = events.slice(0, -1).map((data) => JSON.parse(data));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("w0- w1- w2- ");
    expect([chunks.at(-1)?.usage.prompt_tokens_details.cached_tokens, events.at(-1)]).toEqual([15, "[DONE]"]);
  });

  test("in the messages dialect, with separate cached tokens", async () => {
    await using upstream = await upstreamOf({
      providers: { one: { models: { m: { pieces: 2, usage: { input: 20, output: 9, cached: 15 } } } } },
    });
    const usage = { input_tokens: 5, cache_read_input_tokens: 15 };
    const reply = await (await upstream.post("messages", chat("m", { max_tokens: 9 }))).json();
    expect(reply).toMatchObject({ type: "message", stop_reason: "end_turn", usage: { ...usage, output_tokens: 9 } });
    const text = await (await upstream.post("messages", chat("m", { stream: true }))).text();
    const events = dataOf(text).map((data) => JSON.parse(data));
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual(events.map(({ type }) => type));
    expect(events[0]?.message.usage).toMatchObject(usage);
    expect(events.at(-2)?.usage).toEqual({ output_tokens: 9 });
  });

  test("have their own ids, also in every chunk: gateways store them as keys of their rows", async () => {
    const text = 'nothing is inserted into "id":"chatcmpl-00000000000000000000"';
    await using upstream = await upstreamOf({ providers: { one: { models: { m: { text, pieces: 1 } } } } });
    const post = async (endpoint: string, options: object = {}) =>
      await (await upstream.post(endpoint, chat("m", options))).text();
    const ids: string[] = [];
    for (const endpoint of ["chat/completions", "chat/completions", "messages", "messages"]) {
      const reply = JSON.parse(await post(endpoint));
      expect(reply.choices?.[0].message.content ?? reply.content[0].text).toBe(text);
      ids.push(reply.id);
    }
    const chunks = dataOf(await post("chat/completions", { stream: true })).slice(0, -1);
    const own = new Set(chunks.map((data) => JSON.parse(data).id));
    expect(own.size).toBe(1);
    const [started = ""] = dataOf(await post("messages", { stream: true }));
    ids.push(...own, JSON.parse(started).message.id);
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(/^(chatcmpl-|msg_)[0-9a-f]{8}\d{12}$/);
  });

  test("that call a tool", async () => {
    const tool = { name: "look_up", arguments: { city: "Łódź", days: [1, 2] } };
    await using upstream = await upstreamOf({ providers: { one: { models: { "*": { tool, pieces: 4 } } } } });
    const chunks = dataOf(await (await upstream.post("chat/completions", chat("any", { stream: true }))).text())
      .slice(0, -1)
      .map((data) => JSON.parse(data));
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls[0].function.name).toBe("look_up");
    expect(JSON.parse(calls.map((call) => call.function.arguments).join(""))).toEqual(tool.arguments);
    const whole = (await (await upstream.post("messages", chat("any"))).json()) as { content: object[] };
    expect(whole.content).toMatchObject([{ type: "tool_use", name: "look_up", input: tool.arguments }]);
  });

  test("that call several tools in parallel, each with its own id, index and arguments in pieces", async () => {
    const tool = [
      { name: "first", id: "own_1", arguments: { n: 1, deep: { none: null } } },
      { name: "second", arguments: {} },
      { name: "first", arguments: { n: 2 } },
    ];
    await using upstream = await upstreamOf({ providers: { one: { models: { "*": { tool, pieces: 3 } } } } });
    const chunks = dataOf(await (await upstream.post("chat/completions", chat("any", { stream: true }))).text())
      .slice(0, -1)
      .map((data) => JSON.parse(data));
    const parts = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    const joined = tool.map((_tool, at) => parts.filter(({ index }) => index === at));
    expect(joined.map((own) => own[0].function.name)).toEqual(["first", "second", "first"]);
    expect(joined.map((own) => JSON.parse(own.map((part) => part.function.arguments).join("")))).toEqual(
      tool.map((call) => call.arguments),
    );
    expect(joined.map((own) => own.length)).toEqual([4, 3, 4]);
    expect(joined.map((own) => own[0].id)).toEqual(["own_1", "call_upstream1", "call_upstream2"]);
    const reply = await (await upstream.post("chat/completions", chat("any"))).json();
    expect(reply).toMatchObject({ choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{}, {}, {}] } }] });
    const whole = await (await upstream.post("messages", chat("any"))).json();
    const content = tool.map(({ name, arguments: input }) => ({ type: "tool_use", name, input }));
    expect(whole).toMatchObject({ stop_reason: "tool_use", content });
    const events = dataOf(await (await upstream.post("messages", chat("any", { stream: true }))).text());
    const blocks = events.map((data) => JSON.parse(data)).filter(({ type }) => type === "content_block_start");
    expect(blocks.map(({ index, content_block: { id } }) => [index, id])).toEqual([
      [0, "own_1"],
      [1, "toolu_upstream1"],
      [2, "toolu_upstream2"],
    ]);
  });

  test("in pieces of several sizes, as text, as the arguments of a tool and as reasoning", async () => {
    const pieceBytes = [4, 200_000];
    const words = `w0- w1${"-".repeat(199_997)} `;
    const models = {
      text: { pieceBytes },
      tool: { pieceBytes, tool: { name: "look_up" } },
      reasoning: { pieceBytes, reasoning: true },
    };
    await using upstream = await upstreamOf({ providers: { one: { models } } });
    const deltas = async (path: string, model: string) =>
      dataOf(await (await upstream.post(path, chat(model, { stream: true }))).text())
        .filter((data) => data !== "[DONE]")
        .map((data) => JSON.parse(data))
        .map(({ choices, delta }) => choices?.[0].delta ?? delta ?? {});
    const inChat = await deltas("chat/completions", "reasoning");
    expect(inChat.map(({ reasoning_content: text = "" }) => text).join("")).toBe(words);
    expect(inChat.map(({ content }) => content ?? "").join("")).toBe("done");
    const inMessages = await deltas("messages", "reasoning");
    expect(inMessages.map(({ thinking = "" }) => thinking).join("")).toBe(words);
    expect(inMessages.map(({ text = "" }) => text).join("")).toBe("done");
    const fragments = (await deltas("messages", "tool")).map(({ partial_json: text = "" }) => text);
    expect(JSON.parse(fragments.join(""))).toEqual({ text: words });
    expect((await deltas("chat/completions", "text")).map(({ content = "" }) => content)).toContain(words.slice(4));
    const whole = (await (await upstream.post("messages", chat("reasoning"))).json()) as { content: object[] };
    expect(whole.content).toMatchObject([
      { type: "thinking", thinking: words },
      { type: "text", text: "done" },
    ]);
  });

  test("arrive when the scenario says", async () => {
    const times = { latencyMs: 60, firstTokenMs: 80, gapMs: 40, pieces: 4 };
    await using upstream = await upstreamOf({ providers: { one: { models: { m: times } } } });
    await (await upstream.post("chat/completions", chat("m", { stream: true }))).text();
    const { receivedMs, headMs = 0, endMs = 0, sentEvents } = await upstream.ended();
    expect(headMs - receivedMs).toBeGreaterThanOrEqual(58);
    expect(endMs - headMs).toBeGreaterThanOrEqual(80 + 3 * 40 - 2);
    expect(sentEvents).toBe(7);
  });
});

describe("failures", () => {
  test("have the wording of a provider, and occur in turn", async () => {
    await using upstream = await upstreamOf({
      providers: {
        one: { models: { m: [{ error: { status: 429, retryAfter: 2 } }, { error: { status: 529 } }, {}] } },
      },
    });
    const first = await upstream.post("chat/completions", chat("m"));
    expect([first.status, first.headers.get("retry-after")]).toEqual([429, "2"]);
    const second = await upstream.post("messages", chat("m"));
    expect([second.status, await second.json()]).toMatchObject([529, { error: { type: "overloaded_error" } }]);
    expect((await upstream.post("messages", chat("m"))).status).toBe(200);
    expect((await upstream.post("messages", chat("m"))).status).toBe(200);
  });

  test.each(["before-head", "inside-head"])("reset %s", async (at) => {
    await using upstream = await upstreamOf({ providers: { one: { models: { m: { break: { how: "reset", at } } } } } });
    await expect(upstream.post("chat/completions", chat("m"))).rejects.toThrow();
    expect(await upstream.ended()).toMatchObject({ end: "broken-off", sentEvents: 0 });
  });

  test.each(["reset", "close"])("a stream that a %s interrupts after three events", async (how) => {
    await using upstream = await upstreamOf({ providers: { one: { models: { m: { break: { how, at: 3 } } } } } });
    const response = await upstream.post("chat/completions", chat("m", { stream: true }));
    const parts: string[] = [];
    const decoder = new TextDecoder();
    const read = async () => {
      for await (const bytes of response.body ?? []) parts.push(decoder.decode(bytes));
    };
    await expect(read()).rejects.toThrow();
    expect(dataOf(parts.join(""))).toHaveLength(3);
    expect(await upstream.ended()).toMatchObject({ end: "broken-off", sentEvents: 3 });
  });

  test("a stall lasts until the gateway disconnects", async () => {
    await using upstream = await upstreamOf({
      providers: { one: { models: { m: { break: { how: "stall", at: "after-head" } } } } },
    });
    const leave = new AbortController();
    const response = await upstream.post("messages", chat("m", { stream: true }), { signal: leave.signal });
    expect(response.status).toBe(200);
    expect((await upstream.requests())[0]?.end).toBeUndefined();
    leave.abort();
    expect((await upstream.ended()).end).toBe("gateway-left");
  });

  test("a provider that does not have the model says so", async () => {
    await using upstream = await upstreamOf({ providers: { one: { models: { m: {} } } } });
    expect((await upstream.post("messages", chat("other"))).status).toBe(404);
    expect((await upstream.post("messages", chat("__proto__"))).status).toBe(404);
    expect(await (await fetch(`${upstream.base}/models`)).json()).toMatchObject({ data: [{ id: "m" }] });
    expect((await fetch(`${upstream.base.replace("/one/", "/constructor/")}/models`)).status).toBe(404);
  });
});

describe("the log", () => {
  test("lists what arrived: in order, with credentials only as fingerprints", async () => {
    await using upstream = await upstreamOf();
    const key = "sk-upstream-1234567890";
    const body = chat("m", { note: `my key is ${key}` });
    await (
      await upstream.post("chat/completions", body, {
        headers: { authorization: `Bearer ${key}`, "x-own": key, "content-type": "application/json" },
      })
    ).text();
    const one = await upstream.ended();
    const headers = Object.fromEntries(one.headers);
    expect(headers["authorization"]).toBe(`Bearer ${fingerprint(key)}`);
    expect(headers["x-own"]).toBe(fingerprint(key));
    expect(JSON.stringify(one)).not.toContain(key);
    expect(JSON.parse(one.body)).toEqual({ ...body, note: `my key is ${fingerprint(key)}` });
    expect(one).toMatchObject({ method: "POST", status: 200, end: "complete", bodyBytes: JSON.stringify(body).length });
  });

  test("counts the attempts of a client's request", async () => {
    await using upstream = await upstreamOf();
    const send = async (content: string) =>
      (await upstream.post("messages", { model: "m", messages: [{ role: "user", content }] })).text();
    for (const content of ["a gauntlet-marker-1 b", "a gauntlet-marker-2 b", "gauntlet-marker-1", "none"])
      await send(content);
    const all = await upstream.requests();
    expect(all.map(({ marker, attempt }) => [marker, attempt])).toEqual([
      ["gauntlet-marker-1", 1],
      ["gauntlet-marker-2", 1],
      ["gauntlet-marker-1", 2],
      [undefined, undefined],
    ]);
  });

  test("says when the gateway closed a stream", async () => {
    await using upstream = await upstreamOf({ providers: { one: { models: { m: { gapMs: 30, pieces: 1_000 } } } } });
    const leave = new AbortController();
    const response = await upstream.post("chat/completions", chat("m", { stream: true }), { signal: leave.signal });
    await response.body?.getReader().read();
    leave.abort();
    const one = await upstream.ended();
    expect(one.end).toBe("gateway-left");
    expect(one.sentEvents).toBeLessThan(900);
  });

  test("shows that nothing is written to a gateway that does not read", async () => {
    // 64 MiB: only a few buffers hold what nobody reads.
    const m = { pieces: 64, pieceBytes: 1_048_576 };
    await using upstream = await upstreamOf({ providers: { one: { models: { m } } } });
    const leave = new AbortController();
    const response = await upstream.post("chat/completions", chat("m", { stream: true }), { signal: leave.signal });
    expect(response.status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await upstream.requests())[0]?.sentEvents).toBeLessThan(32);
    leave.abort();
  });
});

describe("the control port", () => {
  test("requires its token and a valid scenario", async () => {
    await using upstream = await upstreamOf();
    expect((await fetch(`${upstream.controlUrl}/requests`)).status).toBe(401);
    const put = (scenario: unknown) => upstream.control("/scenario", { method: "PUT", body: JSON.stringify(scenario) });
    const refused = await put({ providers: { upstream: { models: { m: { latency: 5 } } } } });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("latency")]);
    expect((await put({ providers: { upstream: { models: { m: { error: { status: 503 } } } } } })).status).toBe(200);
    expect((await upstream.post("messages", chat("m"))).status).toBe(503);
    expect((await upstream.control("/requests", { method: "DELETE" })).status).toBe(204);
    expect(await upstream.requests()).toEqual([]);
    await upstream.post("messages", chat("m"));
    expect(await (await upstream.control("/requests?after=1")).json()).toMatchObject({
      count: 2,
      requests: [{ id: 2 }],
    });
    expect((await upstream.control("/requests?after=x")).status).toBe(400);
  });
});

describe("bytes", () => {
  const BODY = JSON.stringify(chat("m"));
  const HEAD = "POST /upstream/v1/chat/completions HTTP/1.1\r\nhost: u\r\n";
  const chunked = `${HEAD}transfer-encoding: chunked\r\n\r\n5;a=b\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\nx: y\r\n\r\n`;
  const whole = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const replies = (text: string) => text.split("HTTP/1.1 200 OK").length - 1;

  test("requests in one piece, byte by byte, and one after the other", async () => {
    await using upstream = await upstreamOf();
    const all = whole + chunked + whole;
    const isDone = (text: string) => replies(text) === 3 && text.endsWith("}}");
    expect(replies(await upstream.raw([all], isDone))).toBe(3);
    expect(replies(await upstream.raw([...all].map(String), isDone))).toBe(3);
    const received = await upstream.requests();
    expect(received.every(({ body }) => body === BODY)).toBe(true);
    expect(received.map(({ connection }) => connection)).toEqual([1, 1, 1, 2, 2, 2]);
    expect(received.map(({ earlier }) => earlier)).toEqual([0, 1, 2, 0, 1, 2]);
  });

  test("a client that waits for 100 Continue before it sends its body gets it", async () => {
    await using upstream = await upstreamOf();
    const head = `${HEAD}expect: 100-continue\r\ncontent-length: ${BODY.length}\r\n\r\n`;
    const text = await upstream.raw([head], (received) => received.length > 0);
    expect(text).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  });

  test.each([
    ["no HTTP", "hello\r\n\r\n", 400],
    ["an endless head", `GET / HTTP/1.1\r\nx: ${"a".repeat(70_000)}`, 431],
    ["an invalid length", `${HEAD}content-length: x\r\n\r\n`, 400],
    ["a body that is too long", `${HEAD}content-length: 99999999999\r\n\r\n`, 413],
    ["an invalid chunk size", `${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n`, 400],
    ["a chunk that is longer than it says", `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n`, 400],
    ["no JSON", `${HEAD}connection: close\r\ncontent-length: 2\r\n\r\nno`, 400],
    ["another method", "GET /upstream/v1/messages HTTP/1.1\r\nconnection: close\r\n\r\n", 405],
  ])("refused: %s", async (_what, bytes, status) => {
    await using upstream = await upstreamOf();
    expect(await upstream.raw([bytes], () => false)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test("written slowly", async () => {
    const slowly = { bytes: 40, everyMs: 5 };
    await using upstream = await upstreamOf({ providers: { one: { models: { m: { slowly } } } } });
    const text = await (await upstream.post("chat/completions", chat("m"))).text();
    const { headMs = 0, endMs = 0 } = await upstream.ended();
    expect(endMs - headMs).toBeGreaterThanOrEqual(5 * Math.floor(text.length / 40) - 1);
    expect(JSON.parse(text)).toMatchObject({ model: "m" });
  });
});

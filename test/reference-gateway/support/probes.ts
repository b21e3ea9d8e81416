import type { Agent } from "node:http";
import { jsonOf, keepAlive, type Reply, streamText, type TestRequest, textOf } from "./client.ts";
import { CHAT, type Fixture, MESSAGES } from "./gateway-fixture.ts";

/** What a probe saw, without what differs from run to run. */
export type Seen = string;

/** Sends some requests and describes the responses. */
export type Probe = (fixture: Fixture) => Promise<Seen[]>;

const IDLE_MS = 250;

/** Text that shows how characters, spaces and escapes are handled. */
const TRICKY = 'Größe 東京 🚀 end\n\n"quoted" <b>&amp;</b> \\ tab\t  two  spaces naïve';
const LONG = Array.from({ length: 900 }, (_none, index) => `word${index}`).join(" ");

const chat = (body: object = {}): TestRequest => ({ path: "/chat/completions", body: { ...CHAT, ...body } });
const messages = (body: object = {}): TestRequest => ({ path: "/messages", body: { ...MESSAGES, ...body } });
const says = (content: unknown) => ({ messages: [{ role: "user", content }] });
const raw = (path: string, body: string | Buffer, headers: Record<string, string> = {}): TestRequest => ({
  path,
  body,
  headers,
});

/** Sends sequential requests, each on a separate connection unless an agent is given. */
async function each(fixture: Fixture, requests: readonly TestRequest[], agent?: Agent): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const requested of requests) seen.push(describe(await fixture.send({ idleMs: IDLE_MS, agent, ...requested })));
  return seen;
}

const VOLATILE = /^(date|x-request-id|request-id|keep-alive)$/;

function describe(reply: Reply): Seen {
  const headers = Object.entries(reply.headers)
    .filter(([name]) => !VOLATILE.test(name))
    .map(([name, value]) => `${name}: ${classOf(name, value, reply.status)}`);
  let text: string;
  try {
    text = textOf(reply);
  } catch {
    text = `undecodable ${reply.bytes.length}`;
  }
  const body = text
    .replaceAll(/req_[0-9a-f]{12}[0-9a-z]{8}/g, "req")
    .replaceAll(/"created":(\d+)/g, (_all, digits: string) => `"created":${digits.length} digits`);
  return [reply.status, reply.end, headers.sort().join("; "), body].join("\n");
}

/** Values that differ from run to run are replaced by classes: a wrong length already shows as an abort or a hang. */
function classOf(name: string, value: string, status: number): string {
  if (name === "content-length") return "present";
  if (name === "x-ratelimit-remaining" && status === 200) return "present";
  if (name !== "retry-after" || !/^\d+$/.test(value)) return value;
  const seconds = Number(value);
  return seconds < 2 || seconds >= 59 ? value : "some seconds";
}

const bad: readonly string[] = [
  '{"model":"echo-fast","mess',
  "",
  "[1,2]",
  '"text"',
  '{"messages":[{"role":"user","content":"hi"}]}',
  '{"model":"echo-fast"}',
  '{"model":7,"messages":[{"role":"user","content":"hi"}]}',
  '{"model":"echo-fast","messages":[]}',
  '{"model":"echo-fast","messages":"hi"}',
  '{"model":"echo-fast","messages":[{"role":"user"}]}',
  '{"model":"echo-fast","messages":[{"role":7,"content":"hi"}]}',
  '{"model":"echo-fast","messages":[{"role":"user","content":7}],"stream":true}',
  '{"model":"echo-fast","messages":[{"role":"user","content":"hi"}],"stream":"yes"}',
  `{"model":"echo-fast","x":${"[".repeat(200)}${"]".repeat(200)}}`,
];

const HISTORY = {
  messages: [
    { role: "user", content: "first" },
    { role: "assistant", content: "second" },
    { role: "user", content: "third" },
  ],
};

const TOOL = { type: "object", properties: { text: { type: "string" }, count: { type: "integer" } } };
const CHAT_TOOLS = ["one", "two"].map((name) => ({ type: "function", function: { name, parameters: TOOL } }));
const MESSAGES_TOOLS = ["one", "two"].map((name) => ({ name, input_schema: TOOL }));

const SMALL_IMAGE = Buffer.alloc(60, 1).toString("base64");
const LARGE_IMAGE = Buffer.alloc(90_000, 2).toString("base64");
const withImage = (part: object) => ({
  model: "image-reader",
  messages: [{ role: "user", content: [{ type: "text", text: "what?" }, part] }],
});
const SCHEMA = { type: "object", properties: { one: { type: "string" }, two: { type: "number" } } };

const usage = { stream: true, stream_options: { include_usage: true } };

/** Probes by subject. */
export const PROBES = {
  paths: (fixture) =>
    each(fixture, [
      { path: "/models" },
      { path: "/nope" },
      { path: "/nope", body: {} },
      { path: "/models?x=1" },
      { path: "/%zz" },
      { path: "/models", headers: { "x-foo": "1" } },
      { path: "/models", method: "HEAD" },
      { path: "/models", method: "OPTIONS" },
      { path: "/models", method: "DELETE" },
      { path: "/chat/completions", method: "GET" },
      { ...chat(), headers: { Expect: "100-continue" } },
      { path: "/models", key: "" },
      chat(),
      chat({ stream: true }),
      messages(),
    ]),
  keys: async (fixture) => {
    const { keys } = fixture.ready;
    const paths = [{ path: "/models" }, chat(), chat({ stream: true }), messages(), messages({ stream: true })];
    const odd = [
      "Bearer ",
      "Bearer",
      `Basic ${keys.valid}`,
      keys.valid,
      "Bearer k\u00e9y",
      `Bearer ${"x".repeat(5_000)}`,
      `bearer ${keys.valid}`,
    ];
    const near = [keys.valid.slice(0, 20), `${keys.valid}x`, keys.valid.toUpperCase(), `${keys.valid.slice(0, -1)}~`];
    const agent = keepAlive();
    const seen = [
      ...(await each(
        fixture,
        ["", "gk-unknown-unknown-unknown", keys.revoked].flatMap((key) =>
          paths.map((requested) => ({ ...requested, key })),
        ),
      )),
      ...(await each(
        fixture,
        odd.map((value) => ({ ...chat(), headers: { Authorization: value } })),
      )),
      ...(await each(
        fixture,
        near.map((key) => ({ ...chat(), key })),
      )),
      ...(await each(fixture, [
        { ...chat(), key: keys.second },
        { ...chat({ stream: true }), key: keys.second },
        { ...chat(), key: keys.capped },
      ])),
      ...(await each(fixture, [
        { path: `/models?api_key=${keys.valid}`, key: "" },
        { path: "/models", key: "", headers: { Cookie: `api_key=${keys.valid}` } },
        { ...chat({ api_key: keys.valid }), key: "" },
        { path: "/models", key: "gk-unknown-unknown-unknown" },
      ])),
      ...(await each(
        fixture,
        [
          chat(),
          { ...chat(), key: "gk-unknown" },
          chat(),
          { ...chat(), key: "" },
          { ...chat(), key: keys.revoked },
          chat(),
        ],
        agent,
      )),
    ];
    agent.destroy();
    const hidden = [keys.valid, keys.second, keys.revoked, keys.capped];
    return seen.map((text) =>
      hidden.reduce(
        (masked, key) =>
          masked.replaceAll(key, "KEY").replaceAll(Buffer.from(`Bearer ${key}`).toString("base64"), "KEY64"),
        text,
      ),
    );
  },
  models: (fixture) =>
    each(fixture, [
      { path: "/models" },
      { path: "/models" },
      { path: "/models" },
      { path: "/models" },
      chat({ model: "no-such-model" }),
      chat({ model: "no-such-model", stream: true }),
      messages({ model: "no-such-model" }),
      { path: "/models" },
      ...Array.from({ length: 8 }, () => chat()),
    ]),
  chat: (fixture) =>
    each(fixture, [
      chat(),
      chat({ stream: false }),
      chat({ max_tokens: 1 }),
      chat(HISTORY),
      chat(says(TRICKY)),
      chat(says(LONG)),
      chat({ messages: [{ role: "system", content: "Be brief" }, ...CHAT.messages] }),
      chat(says("Say goodbye")),
      chat({ ...says("Say goodbye"), temperature: 1 }),
      messages(says(TRICKY)),
    ]),
  messages: (fixture) =>
    each(fixture, [
      messages(),
      { ...messages(), headers: { "anthropic-version": "2023-06-01" } },
      messages({ model: "transcript", system: "Be brief" }),
      messages({ system: LONG }),
      messages({ ...says(LONG), max_tokens: 3 }),
      messages({ ...says(LONG), max_tokens: 3, stream: true }),
      messages(says(TRICKY)),
      ...[undefined, "16", 1.5, -1, 0].flatMap((value) => [
        messages({ max_tokens: value }),
        messages({ max_tokens: value, stream: true }),
      ]),
      raw("/messages", '{"max_tokens":5,"messages":[{"role":"user","content":"hi"}]}'),
      raw("/messages", '{"max_tokens":5,"model":"echo-fast"}'),
    ]),
  bodies: (fixture) =>
    each(fixture, [
      ...bad.map((body) => raw("/chat/completions", body)),
      raw("/chat/completions", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
      raw("/chat/completions", JSON.stringify(CHAT), { "Content-Type": "text/plain" }),
      raw("/chat/completions", JSON.stringify({ ...CHAT, pad: "x".repeat(70_000) })),
    ]),
  streams: async (fixture) => {
    const agent = keepAlive();
    const long = { model: "echo-stream", stream: true, max_tokens: 64 };
    const requested = [
      chat({ ...long }),
      chat({ ...usage, model: "echo-stream" }),
      chat({ ...usage, ...says(TRICKY) }),
      chat({ ...says(TRICKY), stream: true }),
      chat({ stream: true, ...says(LONG) }),
      { ...chat(long), key: fixture.ready.keys.second },
      messages(long),
      messages({ ...says(TRICKY), stream: true }),
      chat({ model: "echo-stream" }),
      messages({ stream: true, max_tokens: 1, ...says("one two three") }),
      chat({ stream: true, max_tokens: 1, ...says("one two three") }),
      chat({ stream: false }),
    ];
    const seen = [...(await each(fixture, requested)), ...(await each(fixture, [chat(long), chat(long)], agent))];
    agent.destroy();
    return seen;
  },
  /** How many milliseconds the first and the middle byte of a stream arrive before its last, in coarse steps. */
  pace: async (fixture) => {
    const agent = keepAlive();
    const seen: Seen[] = [];
    for (const [headers, key, own] of [
      [{}, undefined, undefined],
      [{ "Accept-Encoding": "gzip" }, undefined, undefined],
      [{}, fixture.ready.keys.second, undefined],
      [{}, undefined, agent],
      [{}, undefined, agent],
    ] as const) {
      const reply = await fixture.send({
        ...chat({ model: "echo-stream", stream: true }),
        headers,
        agent: own,
        idleMs: IDLE_MS,
        ...(key === undefined ? {} : { key }),
      });
      const endMs = reply.pieces.at(-1)?.atMs ?? 0;
      const spread = endMs - (reply.pieces[0]?.atMs ?? 0);
      seen.push(`${reply.end} ${reply.pieces.length > 3} ${spread > 15}`);
    }
    agent.destroy();
    return seen;
  },
  denials: async (fixture) => {
    const { keys } = fixture.ready;
    const denied = [
      { key: keys.revoked, body: {} },
      { key: keys.capped, body: {} },
      { key: keys.childExhausted, body: {} },
      { key: keys.empty, body: {} },
      { key: keys.emptySecond, body: {} },
      { key: keys.valid, body: { model: "no-such-model" } },
      { key: "gk-unknown", body: {} },
    ];
    const requests = denied.flatMap(({ key, body }) => [
      { ...chat(body), key },
      { ...chat({ ...body, stream: true }), key },
      { ...messages(body), key },
      { ...messages({ ...body, stream: true }), key },
      { ...chat(body), key, headers: { "Accept-Encoding": "gzip" } },
    ]);
    const agent = keepAlive();
    const seen = [
      ...(await each(fixture, requests)),
      ...(await each(fixture, [
        { path: "/models", key: "gk-unknown" },
        { path: "/models", key: "" },
      ])),
      ...(await each(fixture, requests.slice(0, 4), agent)),
    ];
    agent.destroy();
    return seen.map((text) => Object.values(keys).reduce((masked, key) => masked.replaceAll(key, "KEY"), text));
  },
  money: async (fixture) => {
    const { keys } = fixture.ready;
    const seen: Seen[] = [];
    const agent = keepAlive();
    for (const key of [keys.empty, keys.emptySecond, keys.capped, keys.childExhausted]) {
      const variants = [
        chat(),
        chat({ stream: true }),
        messages(),
        messages({ stream: true }),
        messages({ max_tokens: 8 }),
        chat({ user: "x" }),
        { ...chat(), headers: { "x-foo": "1" } },
        chat(HISTORY),
        chat({ model: "shout-fast" }),
        chat({ temperature: 0.5 }),
        chat(),
        { path: "/models" },
      ].map((requested) => ({ ...requested, key }));
      seen.push(...(await each(fixture, variants)), ...(await each(fixture, variants.slice(0, 2), agent)));
      seen.push(...(await each(fixture, [chat(), { ...chat(), key: keys.second }])));
    }
    // The clock moves: after a wait, at other midnights, and past the end of the day. It starts at two in the morning of the
    // current day, so that the result does not depend on the time of the test.
    const dayMs = 24 * 3_600_000;
    for (const shift of [
      { shiftWallMs: 2 * 3_600_000 - (Date.now() % dayMs) },
      { skipMs: 4_000 },
      { shiftWallMs: 3_600_000 },
      ...Array.from({ length: 7 }, () => ({ shiftWallMs: 4 * 3_600_000 })),
    ]) {
      await fixture.admin("POST", "/clock", shift);
      seen.push(
        ...(await each(fixture, [
          { ...chat(), key: keys.capped },
          { ...chat(), key: keys.childExhausted },
        ])),
      );
    }
    for (let turn = 0; turn < 25; turn += 1) seen.push(...(await each(fixture, [{ ...chat(), key: keys.second }])));
    agent.destroy();
    return seen;
  },
  /** What each kind of request costs its account and its key. */
  charges: async (fixture) => {
    const { keys } = fixture.ready;
    const seen: Seen[] = [];
    const long = { model: "slow", stream: true };
    const kinds = [
      chat(),
      chat({ stream: true }),
      chat(usage),
      messages(),
      messages({ stream: true }),
      chat(long),
      chat({ model: "fail-500" }),
      chat({ model: "drop-midstream", stream: true }),
      chat({ model: "no-such-model" }),
      chat({ messages: [] }),
      chat({ model: "fail-timeout" }),
      { path: "/models" },
      { ...chat(), key: keys.second },
      { ...chat(), key: keys.capped },
    ];
    for (const requested of kinds) {
      const key = ("key" in requested ? requested.key : undefined) ?? keys.valid;
      const before = await account(fixture, key);
      await fixture.send({ ...requested, idleMs: IDLE_MS });
      const after = await account(fixture, key);
      seen.push(
        `${JSON.stringify(requested.body)} ${before.balance - after.balance} ${after.spent - before.spent} ${after.today - before.today}`,
      );
    }
    const burst = await Promise.all(
      Array.from({ length: 70 }, () => fixture.chat({ model: "slow" }, { key: keys.cappable })),
    );
    seen.push(`burst ${burst.filter((reply) => reply.status === 200).length}`);
    return seen;
  },
  upstream: (fixture) =>
    each(
      fixture,
      ["fail-500", "fail-503", "fail-429", "fail-html", "fail-timeout", "drop-midstream"].flatMap((model) => [
        chat({ model }),
        chat({ model, stream: true }),
        messages({ model }),
        messages({ model, stream: true }),
      ]),
    ),
  rate: async (fixture) => {
    const { key, second } = fixture.ready.limited[0] ?? { key: "", second: "" };
    const counts: Record<string, number> = {};
    const details: Seen[] = [];
    const agents = [keepAlive(), keepAlive()];
    const kinds = [
      chat(),
      chat({ stream: true }),
      messages(),
      messages({ stream: true }),
      chat({ model: "shout-fast" }),
    ];
    const note = (phase: string, reply: Reply) => {
      const word = `${phase} ${reply.status} ${reply.headers["x-service-error-code"] ?? ""}`;
      counts[word] = (counts[word] ?? 0) + 1;
      if (reply.status !== 200) details.push(describe(reply));
    };
    const flood = async (phase: string) => {
      for (let turn = 0; turn < 32; turn += 1) {
        const requested = kinds[turn % kinds.length] ?? chat();
        const own = turn % 3 === 0 ? second : key;
        note(phase, await fixture.send({ ...requested, key: own, agent: agents[turn % 2], idleMs: 150 }));
      }
    };
    for (let turn = 0; turn < 25; turn += 1) await fixture.chat();
    await flood("first");
    note("chat", await fixture.send({ ...chat(), key }));
    await fixture.admin("POST", "/clock", { skipMs: 31_000 });
    await flood("half a minute");
    await fixture.admin("POST", "/clock", { skipMs: 31_000 });
    await flood("minute");
    await fixture.admin("POST", "/clock", { skipMs: 130_000 });
    const burst = await Promise.all(Array.from({ length: 40 }, () => fixture.chat({}, { key })));
    details.push(`burst over ${burst.filter((reply) => reply.status === 200).length > 20}`);
    for (const agent of agents) agent.destroy();
    return [JSON.stringify(counts), ...details];
  },
  /** Requests until the tokens of an account are used up; a minute later, some concurrent ones. */
  tokens: async (fixture) => {
    const key = fixture.ready.tokenLimits?.key;
    const large = { ...says("word ".repeat(40)), max_tokens: 40 };
    const kinds = [
      chat(large),
      chat({ ...large, stream: true }),
      messages(large),
      messages({ ...large, stream: true }),
    ];
    const seen = await each(
      fixture,
      [...kinds, ...kinds].map((requested) => ({ ...requested, key })),
    );
    await fixture.admin("POST", "/clock", { skipMs: 61_000 });
    const burst = await Promise.all(Array.from({ length: 8 }, () => fixture.chat(large, { key })));
    return [...seen, `at once ${burst.filter(({ status }) => status === 200).length}`];
  },
  /** One denial of each kind for the rate and for concurrency. */
  limits: async (fixture) => {
    const [narrow, few] = [fixture.ready.limited[0], fixture.ready.limited[1]];
    if (narrow === undefined || few === undefined) return [];
    const kinds = [chat(), chat({ stream: true }), messages(), messages({ stream: true })];
    await Promise.all(
      Array.from({ length: 5 }, () =>
        each(
          fixture,
          kinds.map((requested) => ({ ...requested, key: narrow.key })),
        ),
      ),
    );
    await Promise.all(Array.from({ length: 4 }, () => fixture.chat({}, { key: narrow.key })));
    const agent = keepAlive();
    const rate = [
      ...(await each(fixture, [
        ...kinds.map((requested) => ({ ...requested, key: narrow.key })),
        { ...chat(), key: narrow.second },
      ])),
      ...(await each(
        fixture,
        kinds.map((requested) => ({ ...requested, key: narrow.key })),
        agent,
      )),
    ];
    agent.destroy();
    const held = Array.from({ length: 4 }, () => fixture.chat({ model: "slow" }, { key: few.key }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const concurrency = await Promise.all(kinds.map((requested) => each(fixture, [{ ...requested, key: few.key }])));
    await Promise.all(held);
    const growth = await fixture.chat({}, { key: fixture.ready.tiers.growth.key });
    return [...rate, ...concurrency.flat(), `remaining ${growth.headers["x-ratelimit-remaining"]}`];
  },
  concurrency: (fixture) => concurrencyProbe(fixture),
  tools: (fixture) =>
    each(fixture, [
      chat({ model: "tool-caller", tools: CHAT_TOOLS }),
      chat({ model: "tool-caller", tools: CHAT_TOOLS, stream: true }),
      chat({
        messages: [
          ...CHAT.messages,
          { role: "assistant", content: null, tool_calls: [] },
          { role: "tool", content: "42", tool_call_id: "x" },
        ],
      }),
      messages({ model: "tool-caller", tools: MESSAGES_TOOLS }),
      messages({ model: "tool-caller", tools: MESSAGES_TOOLS, stream: true }),
      messages({ messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: "42" }] }] }),
    ]),
  capabilities: (fixture) =>
    each(
      fixture,
      [{}, { stream: true }].flatMap((mode) => [
        ...[SMALL_IMAGE, LARGE_IMAGE].flatMap((data) => [
          chat({ ...mode, ...withImage({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }) }),
          messages({
            ...mode,
            ...withImage({ type: "image", source: { type: "base64", media_type: "image/png", data } }),
          }),
        ]),
        chat({
          ...mode,
          model: "json-writer",
          response_format: { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
        }),
        messages({
          ...mode,
          model: "json-writer",
          output_config: { format: { type: "json_schema", schema: SCHEMA } },
        }),
      ]),
    ),
  protocol: async (fixture) => {
    const agent = keepAlive();
    const gzip = { "Accept-Encoding": "gzip" };
    const seen = [
      ...(await each(fixture, [
        chat(says(TRICKY)),
        chat(),
        { ...chat(says(TRICKY)), headers: gzip },
        { ...chat(), headers: { "Accept-Encoding": "br" } },
        { ...chat(), headers: { "Accept-Encoding": "identity, gzip;q=0" } },
        { ...chat(says(LONG)), headers: gzip },
        { path: "/models" },
        { ...chat(), key: "gk-unknown", headers: gzip },
        { ...chat(), key: "gk-unknown" },
      ])),
      ...(await each(fixture, [chat(), chat(), { ...chat(), key: "gk-unknown" }], agent)),
    ];
    const ids = [await fixture.chat(), await fixture.chat()].map((reply) => reply.headers["x-request-id"]);
    seen.push(`ids differ ${ids[0] !== ids[1]}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    seen.push(`kept ${Object.values(agent.freeSockets).flat().length}`);
    agent.destroy();
    return seen.map((text) => text.replaceAll(fixture.ready.keys.valid, "KEY"));
  },
  many: (fixture) => manyProbe(fixture),
  /** Fast requests for longer than the interval at which a gateway occasionally stops: sixteen seconds. */
  longPause: async (fixture) => {
    let stopped = false;
    for (let turn = 0; turn < 160 && !stopped; turn += 1) {
      const startMs = performance.now();
      await fixture.chat();
      stopped = performance.now() - startMs > 300;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return [`stopped ${stopped}`];
  },
  /** Streams of more than a second: run with slower providers. */
  lasting: async (fixture) => {
    const { key } = fixture.ready.limited[1] ?? { key: "" };
    const seen: Seen[] = [];
    const held = [1, 2, 3, 4].map(() => fixture.chat({ model: "slow", stream: true }, { key }));
    await new Promise((resolve) => setTimeout(resolve, 1_150));
    seen.push(`late ${(await fixture.chat({}, { key })).status}`);
    for (const reply of await Promise.all(held)) seen.push(`${reply.end} ${textOf(reply).split("data: ").length}`);
    const { spent } = await account(fixture, key);
    return [...seen, `spent ${spent}`];
  },
} as const satisfies Record<string, Probe>;

async function account(fixture: Fixture, text: string): Promise<{ balance: number; spent: number; today: number }> {
  const key = await fixture.admin("POST", "/keys/find", { key: text });
  const { balanceMicroUsd } = await fixture.admin("GET", `/accounts/${key.account}`);
  return { balance: balanceMicroUsd, spent: key.spentMicroUsd, today: key.spentTodayMicroUsd };
}

/** Reaches the concurrency limit of an account in several ways, sends more, and checks whether capacity is free afterwards. */
async function concurrencyProbe(fixture: Fixture): Promise<Seen[]> {
  const { key, second } = fixture.ready.limited[1] ?? { key: "", second: "" };
  const seen: Seen[] = [];
  const slow = (body: object = {}, own = key, requested: Partial<TestRequest> = {}) =>
    fixture.chat({ model: "slow", ...body }, { key: own, idleMs: 400, ...requested });
  const tell = (phase: string, replies: readonly Reply[]) =>
    seen.push(
      `${phase}: ${replies
        .map(
          (reply) =>
            `${reply.status} ${reply.end} ${reply.headers["x-service-error-code"] ?? ""} ${/^\d+$/.test(reply.headers["retry-after"] ?? "0") ? "" : "odd Retry-After"} ${"retry-after" in reply.headers}`,
        )
        .sort()
        .join(" | ")}`,
    );
  const wave = async (phase: string, requests: readonly (() => Promise<Reply>)[]) =>
    tell(phase, await Promise.all(requests.map((request) => request())));
  const settle = () => new Promise((resolve) => setTimeout(resolve, 25));

  await wave(
    "exactly",
    [1, 2, 3, 4].map(() => () => slow()),
  );
  await settle();
  await wave(
    "streams",
    [1, 2, 3, 4, 5].map(() => () => slow({ stream: true })),
  );
  await settle();
  await wave(
    "too many",
    Array.from({ length: 9 }, () => () => slow()),
  );
  await settle();
  await wave(
    "two keys",
    Array.from(
      { length: 6 },
      (_none, index) => () => slow({ stream: index % 2 === 0 }, index % 2 === 0 ? key : second),
    ),
  );
  await settle();
  await wave(
    "two dialects",
    Array.from(
      { length: 6 },
      (_none, index) => () => (index % 2 === 0 ? slow() : fixture.messages({ model: "slow" }, { key, idleMs: 400 })),
    ),
  );
  await settle();
  await wave(
    "two models",
    Array.from(
      { length: 6 },
      (_none, index) => () => slow({ model: index % 2 === 0 ? "slow" : "echo-stream", stream: true }),
    ),
  );
  await settle();
  // One request late in the life of four streams.
  const held = [1, 2, 3, 4].map(() => slow({ stream: true }));
  await new Promise((resolve) => setTimeout(resolve, 60));
  tell("late", [
    await fixture.chat({}, { key }),
    await fixture.chat({ stream: true }, { key }),
    await fixture.messages({ stream: true }, { key }),
  ]);
  tell("held", await Promise.all(held));
  await settle();
  for (const body of [{ stream: true }, {}]) {
    for (let turn = 0; turn < 4; turn += 1) {
      const left = new AbortController();
      const going = slow(body, key, { signal: left.signal });
      await new Promise((resolve) => setTimeout(resolve, 30));
      left.abort();
      await going;
    }
    await settle();
    await wave(
      "after leaving",
      [1, 2, 3, 4].map(() => () => slow()),
    );
    await settle();
  }
  for (const model of ["fail-500", "drop-midstream"]) {
    for (let turn = 0; turn < 4; turn += 1) await slow({ model, stream: true });
  }
  for (let turn = 0; turn < 24; turn += 1) await slow({ model: "echo-fast", stream: true });
  for (let turn = 0; turn < 101; turn += 1) await slow({ model: "echo-fast" });
  await wave(
    "at the end",
    [1, 2, 3, 4].map(() => () => slow()),
  );
  // Another account, while this one is at its limit.
  const full = [1, 2, 3, 4].map(() => slow());
  await new Promise((resolve) => setTimeout(resolve, 20));
  tell("another account", [await fixture.chat({}, { key: fixture.ready.limited[0]?.key ?? "" })]);
  await Promise.all(full);
  return seen;
}

const TICK_MS = 5;

/** Measures for how long this process could not run its timers. */
function ownStalls() {
  let last = performance.now();
  let totalMs = 0;
  const look = () => {
    const now = performance.now();
    totalMs += Math.max(0, now - last - 2 * TICK_MS);
    last = now;
  };
  const ticks = setInterval(look, TICK_MS);
  return {
    get totalMs() {
      look();
      return totalMs;
    },
    [Symbol.dispose]: () => clearInterval(ticks),
  };
}

/** Many requests, sequential and concurrent. The results are sums, and whether latencies are unusual. */
async function manyProbe(fixture: Fixture): Promise<Seen[]> {
  const { keys } = fixture.ready;
  const agents = [keepAlive(), keepAlive()];
  const outcomes: Record<string, number> = {};
  const note = (phase: string, reply: Reply, expected?: string) => {
    const word = [phase, reply.status, reply.end, reply.headers["x-service-error-code"], reply.headers["content-type"]];
    const served = reply.status === 200 && reply.end === "complete";
    if (expected !== undefined && served && replyText(reply) !== expected) word.push("other text");
    if (phase !== "crowd") word.push(textOf(reply).split("data: ").length);
    outcomes[word.join(" ")] = (outcomes[word.join(" ")] ?? 0) + 1;
  };
  const times: number[] = [];
  using stalls = ownStalls();
  const timed = async (requested: TestRequest) => {
    const startMs = performance.now();
    const stalledMs = stalls.totalMs;
    const reply = await fixture.send({ idleMs: 8_000, ...requested });
    // Delays of this process on a busy machine are not the gateway's time.
    times.push(performance.now() - startMs - (stalls.totalMs - stalledMs));
    return reply;
  };
  const nonce = (turn: number) => `nonce-${turn} a b c d`;
  for (let turn = 0; turn < 130; turn += 1) {
    const agent = turn % 4 === 0 ? undefined : agents[turn % 2];
    note("plain", await timed({ ...chat(says(nonce(turn))), agent }), nonce(turn));
  }
  for (let turn = 0; turn < 60; turn += 1) {
    note(
      "stream",
      await timed((turn % 3 === 0 ? messages : chat)({ stream: true, ...says(nonce(turn)) })),
      nonce(turn),
    );
  }
  const late = times.filter((ms) => ms > 25).length > 8;
  const left = new AbortController();
  const going = fixture.send({ ...chat({ model: "slow", ...says("abandoned") }), signal: left.signal });
  await new Promise((resolve) => setTimeout(resolve, 30));
  left.abort();
  await going;
  note("after leaving", await timed(chat(says("mine"))), "mine");

  const pool = keepAlive(30);
  let spread = 0;
  for (const agent of [undefined, pool, pool]) {
    const crowd = Array.from({ length: 24 }, async (_none, index) => {
      const kind = index % 2 === 0 ? chat : messages;
      const key = index % 5 === 0 ? keys.second : keys.valid;
      const turns = index === 9 ? HISTORY : says(`crowd-${index} end`);
      const model = index % 3 === 0 ? "echo-stream" : "slow";
      const slow = fixture.send({ ...kind({ model, stream: index % 3 !== 1 }), key, idleMs: 8_000 });
      // By then all slow ones are running, and the others meet the concurrency limit.
      await new Promise((resolve) => setTimeout(resolve, 15));
      const quick = await timed({ ...kind({ ...turns, stream: index % 4 === 0 }), key, agent });
      note("crowd", quick, index === 9 ? "third" : `crowd-${index} end`);
      const reply = await slow;
      if (index % 3 !== 1 && (reply.pieces.at(-1)?.atMs ?? 0) - (reply.pieces[0]?.atMs ?? 0) > 12) spread += 1;
      note("slow", reply);
    });
    await Promise.all(crowd);
  }
  for (const agent of [...agents, pool]) agent.destroy();
  const counts = Object.entries(outcomes).sort(([one], [other]) => (one < other ? -1 : 1));
  return [JSON.stringify(counts), `late ${late}`, `spread ${spread > 36}`, `slowest ${Math.max(...times) < 350}`];
}

/** The text of a reply of either dialect, streaming or not. */
function replyText(reply: Reply): string {
  if (reply.headers["content-type"]?.startsWith("text/event-stream") === true) return streamText(reply);
  const value = jsonOf(reply);
  return value.choices?.[0]?.message?.content ?? value.content?.[0]?.text ?? "";
}

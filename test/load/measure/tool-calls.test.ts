import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { toolCallsText } from "../../../reports/figures/tool-call-figures.ts";
import { FORMATS, renderLoad } from "../../../reports/index.ts";
import { RequestBudget } from "../../../src/budget/index.ts";
import type { Dialect } from "../../../src/dialects/index.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { DEFAULT_ALLOW, runWorkload, type Workload } from "../../../src/load/index.ts";
import { ToolCallTally } from "../../../src/load/measure/tool-call-tally.ts";
import { contentOf, OFFERED_TOOLS } from "../../../src/load/workload/request-content.ts";
import type { JudgedPhase } from "../../../src/record/index.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { httpServer } from "../../support/judge.ts";
import { loadPhase, loadRun } from "../../support/load-records.ts";
import { recordOf } from "../../support/records.ts";
import { sentTo } from "../support/upstream-load.ts";

interface Scripted {
  readonly calls: readonly (readonly [name: string, text: string])[];
  readonly isCutOff?: true;
}

const VALID = ["read_file", '{"path":"ä.ts"}'] as const;

/** Replies in turn. */
const REPLIES: readonly Scripted[] = [
  { calls: [VALID] },
  { calls: [VALID, ["read_file", '{ "path" : "b" }']] },
  { calls: [["read_file", '{"path":"a']] },
  { calls: [["readFile", '{"path":"a"}']] },
  { calls: [["read_file", '{"path":7}'], VALID, ["read_file", "[]"]] },
  { calls: [VALID, ["read_file", '{"pa']], isCutOff: true },
  { calls: [] },
];

function body(dialect: Dialect, stream: boolean, { calls, isCutOff }: Scripted): string {
  const text = calls.length === 0 ? "no tool" : null;
  if (dialect === "chat") {
    const finish = isCutOff ? "length" : calls.length === 0 ? "stop" : "tool_calls";
    const all = calls.map(([name, args], index) => ({ id: `c${index}`, function: { name, arguments: args } }));
    if (!stream)
      return JSON.stringify({
        choices: [{ index: 0, message: { role: "assistant", content: text, tool_calls: all }, finish_reason: finish }],
        usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
      });
    const chunk = (delta: object, reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const parts = all.flatMap(({ id, function: { name, arguments: args } }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...[args.slice(0, 4), args.slice(4)].map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]);
    return [chunk({ role: "assistant", content: text }), ...parts, chunk({}, finish), "data: [DONE]\n\n"].join("");
  }
  const stop = isCutOff ? "max_tokens" : calls.length === 0 ? "end_turn" : "tool_use";
  const usage = { input_tokens: 1, output_tokens: 3 };
  if (!stream) {
    const blocks = calls.map(([name, args], index) => ({ type: "tool_use", id: `t${index}`, name, input: args }));
    // A non-streaming reply has its arguments as JSON: what is no JSON cannot be in it.
    const content = blocks.map(({ input, ...block }) => JSON.stringify(block).replace(/}$/, `,"input":${input}}`));
    const shown = text === null ? content : ['{"type":"text","text":"no tool"}'];
    const rest = JSON.stringify({ type: "message", role: "assistant", stop_reason: stop, usage }).slice(1);
    return `{"content":[${shown.join(",")}],${rest}`;
  }
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const blocks = calls.flatMap(([name, args], index) => [
    event("content_block_start", { index, content_block: { type: "tool_use", id: `t${index}`, name, input: {} } }),
    ...[args.slice(0, 4), args.slice(4)].map((part) =>
      event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: part } }),
    ),
    event("content_block_stop", { index }),
  ]);
  const words = [
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "no tool" } }),
    event("content_block_stop", { index: 0 }),
  ];
  return [
    event("message_start", { message: { role: "assistant", content: [], usage } }),
    ...(text === null ? blocks : words),
    event("message_delta", { delta: { stop_reason: stop }, usage }),
    event("message_stop", {}),
  ].join("");
}

interface Sent {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly replies?: readonly Scripted[];
  readonly toolCalls?: number;
  readonly isCoded?: boolean;
}

/** Sends 70 requests to a server with these replies in turn. */
async function sent({ dialect, stream, replies = REPLIES, toolCalls = 2, isCoded = false }: Sent) {
  let count = 0;
  await using server = await httpServer((_request, _body, response) => {
    const text = body(dialect, stream, replies[count++ % replies.length] as Scripted);
    response.writeHead(200, {
      "content-type": stream ? "text/event-stream" : "application/json",
      ...(isCoded ? { "content-encoding": "gzip" } : {}),
    });
    response.end(isCoded ? gzipSync(text) : text);
  });
  const yaml = `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\n`;
  const target = parseTarget(yaml, "t.yaml", { K: "sk-test-valid-0123456789abcdef" });
  const never = new AbortController().signal;
  const workload: Workload = {
    name: "tools",
    arrivals: { kind: "constant", ratePerS: 70, durationS: 1 },
    mix: [{ dialect, stream, model: "m", promptTokens: 5, maxTokens: 16, weight: 1, toolCalls }],
    warmupS: 0,
    engine: "native",
    retryAfter: "none",
    allow: DEFAULT_ALLOW,
    written: null,
  };
  const { run } = await runWorkload(workload, {
    ...{ target, keys: [target.keys.valid], seed: 3, stop: never, abort: never, calibration: null },
    budget: new RequestBudget(target.budget),
    redactor: new Redactor([]),
    onSample: () => undefined,
  });
  const [phase] = run.phases;
  expect(phase).toMatchObject({ sent: 70 });
  return phase;
}

/** Ten rounds of the replies. */
const COUNTED = {
  ...{ replies: 70, withCalls: 60, calls: 90 },
  ...{ valid: 50, invalidJson: 10, unknownName: 10, schemaMismatch: 20, cutOff: 10 },
};

describe("each tool call under load is valid, invalid JSON, of an unknown name, or not what the schema says", () => {
  test.each([
    ["chat", false, false],
    ["chat", true, false],
    ["chat", true, true],
    ["messages", true, false],
  ] as const)("%s, streaming: %s, gzip: %s", async (dialect, stream, isCoded) => {
    const phase = await sent({ dialect, stream, isCoded });
    expect(phase?.toolCalls).toMatchObject(COUNTED);
    const { shares, intervals } = phase?.toolCalls ?? {};
    expect(shares?.schemaMismatch).toBeCloseTo(20 / 90);
    const [low, high] = intervals?.schemaMismatch ?? [1, 0];
    expect([low > 0.05, low < 20 / 90, high > 20 / 90, high < 0.5]).toEqual([true, true, true, true]);
  });

  test("messages, non-streaming: arguments that are no JSON make the whole reply invalid", async () => {
    const replies = REPLIES.filter((_reply, at) => at !== 2 && at !== 5);
    const phase = await sent({ dialect: "messages", stream: false, replies });
    expect(phase?.toolCalls).toMatchObject({
      calls: 98,
      valid: 56,
      invalidJson: 0,
      unknownName: 14,
      schemaMismatch: 28,
    });
    const invalid = await sent({ dialect: "messages", stream: false, replies: [REPLIES[2] as Scripted] });
    expect([invalid?.invalid, invalid?.toolCalls]).toEqual([70, undefined]);
  });

  test("not for requests without tools, even if the replies have calls", async () => {
    expect(await sent({ dialect: "chat", stream: true, toolCalls: 0 })).not.toHaveProperty("toolCalls");
  });

  test("without calls there are no shares", async () => {
    const phase = await sent({ dialect: "chat", stream: true, replies: [{ calls: [] }] });
    expect(phase?.toolCalls).toMatchObject({ replies: 70, withCalls: 0, calls: 0, shares: null, intervals: null });
    expect(phase?.toolCalls && toolCallsText(phase.toolCalls)).toBe("0 in 0 of 70 replies");
  });
});

test("a shard hands over its counts", async () => {
  const tool = [
    { name: "read_file", arguments: { path: "a" } },
    { name: "other", arguments: {} },
  ];
  const { phase, shardFile } = await sentTo(
    { arrivals: { kind: "constant", ratePerS: 40, durationS: 1 }, mix: [{ dialect: "chat", toolCalls: 1 }] },
    { scenario: { providers: { one: { models: { m: { tool } } } } }, part: { index: 0, of: 2 } },
  );
  expect(phase?.toolCalls).toMatchObject({ replies: 20, calls: 40, valid: 20, unknownName: 20 });
  const counts = { valid: 20, invalidJson: 0, unknownName: 20, schemaMismatch: 0, cutOff: 0 };
  expect(shardFile?.share.tally.toolCalls).toMatchObject({ replies: 20, withCalls: 20, counts });
});

test("terminal and report show each kind with its interval, only for phases with tools", () => {
  const interval = [0.9, 0.99] as [number, number];
  const toolCalls = {
    ...{
      replies: 100,
      withCalls: 90,
      calls: 100,
      valid: 97,
      invalidJson: 3,
      unknownName: 0,
      schemaMismatch: 0,
      cutOff: 2,
    },
    shares: { valid: 0.97, invalidJson: 0.03, unknownName: 0, schemaMismatch: 0 },
    intervals: {
      valid: interval,
      invalidJson: [0.01, 0.1] as [number, number],
      unknownName: null,
      schemaMismatch: null,
    },
  };
  const shown = (phase: Partial<JudgedPhase>) => {
    const record = recordOf([], {
      command: "load",
      load: { runs: [loadRun("w", { phases: [loadPhase("w", phase)] })] },
    });
    return {
      terminal: renderLoad(record, { colors: pc.createColors(false), folder: "run" }),
      html: [...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join(""),
    };
  };
  const { terminal, html } = shown({ toolCalls });
  expect(terminal).toContain(
    "tool calls: 100 in 90 of 100 replies: 97 valid 97.0 % (90.0 … 99.0 %), 3 invalid JSON 3.0 % (1.0 … 10.0 %), 0 unknown name, 0 schema mismatch, 2 cut off by the output limit",
  );
  expect(html).toContain("Tool calls of w, each kind with its share and 95 % interval");
  expect(html).toContain("3 3.0 % (1.0 … 10.0 %)");
  const without = shown({});
  expect(`${without.terminal}${without.html}`).not.toMatch(/tool calls/i);
});

test("counts of several workers add up", () => {
  const counts = { valid: 3, invalidJson: 1, unknownName: 0, schemaMismatch: 0, cutOff: 1 };
  const [one, other] = [new ToolCallTally(), new ToolCallTally()];
  one.add(counts, 10);
  other.add({ ...counts, valid: 1 }, 400_000);
  other.add({ valid: 0, invalidJson: 0, unknownName: 0, schemaMismatch: 0, cutOff: 0 }, 500_000);
  const stored = other.store();
  if (stored !== undefined) one.merge(JSON.parse(JSON.stringify(stored)) as typeof stored);
  expect(one.close(1)).toMatchObject({ replies: 3, withCalls: 2, calls: 6, valid: 4, invalidJson: 2, cutOff: 2 });
  expect(new ToolCallTally().store()).toBeUndefined();
});

test("the check of the arguments is what the schema in the request says", () => {
  const { tools } = contentOf("messages", { prompt: "p", toolCalls: 1 }) as {
    tools: { name: string; input_schema: object }[];
  };
  expect(tools.map(({ name }) => name)).toEqual([...OFFERED_TOOLS.keys()]);
  for (const { name, input_schema: schema } of tools) {
    const validate = new Ajv2020().compile(schema);
    for (const input of [{ path: "a" }, { path: "", more: 1 }, { path: null }, { path: 1 }, {}, { Path: "a" }])
      expect([input, OFFERED_TOOLS.get(name)?.(input)]).toEqual([input, validate(input)]);
  }
});

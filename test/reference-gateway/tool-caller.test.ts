import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { jsonOf } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

const LONG = `a ${"very ".repeat(40)}long request 東京 🚀`;

/** Schemas as callers write them, none of which this gateway was written for. */
const SCHEMAS: Readonly<Record<string, object>> = {
  "bounds of numbers": {
    type: "object",
    properties: {
      page: { type: "integer", minimum: 10, maximum: 20 },
      share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      step: { type: "integer", multipleOf: 5 },
    },
    required: ["page", "share", "step"],
    additionalProperties: false,
  },
  "bounds of texts and lists": {
    type: "object",
    properties: {
      code: { type: "string", minLength: 3, maxLength: 8 },
      tags: { type: "array", items: { type: "string" }, minItems: 3 },
      pair: { type: "array", prefixItems: [{ type: "integer" }, { type: "boolean" }], minItems: 2 },
    },
    required: ["code", "tags", "pair"],
  },
  formats: {
    type: "object",
    properties: Object.fromEntries(
      ["date", "time", "date-time", "email", "uri", "uuid", "ipv4", "ipv6"].map((format) => [
        format,
        { type: "string", format },
      ]),
    ),
  },
  "references, alternatives and null": {
    type: "object",
    $defs: {
      node: {
        type: "object",
        properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["name"],
      },
    },
    properties: {
      tree: { $ref: "#/$defs/node" },
      unit: { anyOf: [{ enum: ["c", "f"] }, { type: "null" }] },
      note: { type: ["null", "string"] },
      both: { allOf: [{ type: "object", required: ["a"] }, { properties: { a: { const: 1 } } }] },
    },
    required: ["tree", "unit", "note", "both"],
  },
};

const ask = (content: string, rest: object) => ({
  model: "tool-caller",
  messages: [{ role: "user", content }],
  ...rest,
});
const chatTool = (name: string, parameters: object) => ({ type: "function", function: { name, parameters } });

describe("arguments of tool-caller", () => {
  test.each(Object.entries(SCHEMAS))("are valid for a schema with %s, in both dialects", async (_what, schema) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    await using fixture = await startFixture();
    const chat = jsonOf(await fixture.chat(ask(LONG, { tools: [chatTool("f", schema)] })));
    const messages = jsonOf(
      await fixture.messages(ask(LONG, { max_tokens: 4_096, tools: [{ name: "f", input_schema: schema }] })),
    );
    const validate = ajv.compile(schema);
    for (const args of [
      JSON.parse(chat.choices[0].message.tool_calls[0].function.arguments),
      messages.content[0].input,
    ])
      expect([validate(args), validate.errors]).toEqual([true, null]);
  });

  test("repeat the whole prompt", async () => {
    await using fixture = await startFixture();
    const tools = [chatTool("save", { type: "object", properties: { text: { type: "string" } } })];
    const { message } = jsonOf(await fixture.chat(ask(LONG, { tools }))).choices[0];
    expect(JSON.parse(message.tool_calls[0].function.arguments)).toEqual({ text: LONG });
  });
});

describe("a prompt directs tool-caller", () => {
  const tools = [chatTool("first", { type: "object" }), chatTool("second", { type: "object" })];
  const namesOf = (reply: ReturnType<typeof jsonOf>): string[] | undefined =>
    reply.choices[0].message.tool_calls?.map((call: { function: { name: string } }) => call.function.name);

  test("to exact calls, step by step", async () => {
    await using fixture = await startFixture();
    const steps = [
      [
        { name: "second", arguments: { n: 1 } },
        { name: "second", arguments: { n: 2 } },
      ],
      [{ name: "first" }],
    ];
    const messages: object[] = [{ role: "user", content: `Do this.\ntool_calls: ${JSON.stringify(steps)}` }];
    const seen: unknown[] = [];
    for (let step = 0; step < 3; step++) {
      const { message } = jsonOf(await fixture.chat({ model: "tool-caller", messages, tools })).choices[0];
      const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
      seen.push(calls.map(({ function: { name, arguments: json } }) => [name, JSON.parse(json)]));
      messages.push(message, ...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `result ${step}` })));
    }
    expect(seen).toEqual([
      [
        ["second", { n: 1 }],
        ["second", { n: 2 }],
      ],
      [["first", {}]],
      [],
    ]);
  });

  test.each([
    ["to none", "What is 17 + 25? Do not use any tool.", {}, undefined],
    ["to none, by a script", "tool_calls: []", {}, undefined],
    ["to two calls of the only tool", "Make both calls in one turn.", { tools: tools.slice(0, 1) }, ["first", "first"]],
    ["by tool_choice", "Hello", { tool_choice: { type: "function", function: { name: "second" } } }, ["second"]],
  ])("%s", async (_how, prompt, rest, names) => {
    await using fixture = await startFixture();
    expect(namesOf(jsonOf(await fixture.chat(ask(prompt, { tools, ...rest }))))).toEqual(names);
  });

  test("not with a script that is malformed, and not to a tool that was not given", async () => {
    await using fixture = await startFixture();
    const reply = jsonOf(await fixture.chat(ask("tool_calls: first", { tools })));
    expect(reply.choices[0].message.content).toContain("expected steps like");
    const missing = await fixture.chat(
      ask("Hello", { tools, tool_choice: { type: "function", function: { name: "x" } } }),
    );
    expect([missing.status, jsonOf(missing).error.message]).toEqual([
      400,
      expect.stringContaining("the name of one of the tools is expected"),
    ]);
  });
});

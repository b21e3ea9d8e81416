import { type JsonObject, type JsonValue, member } from "../../../src/core/index.ts";
import type { Dialect } from "../../../src/dialects/index.ts";
import { MULTIBYTE_TEXT, SPECIAL_TEXT } from "../../shared/requests/texts.ts";

/** A tool without the form of a dialect. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly strict?: boolean;
}

/** A tool in the form of a dialect. */
export function toolIn(dialect: Dialect, { name, description, schema, strict }: ToolDefinition): JsonObject {
  const more = strict === undefined ? {} : { strict };
  return dialect === "chat"
    ? { type: "function", function: { name, description, parameters: schema, ...more } }
    : { name, description, input_schema: schema, ...more };
}

/** The tools of a request in either dialect, in order. */
export function definitionsIn(body: unknown) {
  const tools = member(body, "tools");
  return (Array.isArray(tools) ? (tools as unknown[]) : []).map((tool) => {
    const own = member(tool, "function") ?? tool;
    return {
      name: member(own, "name"),
      description: member(own, "description"),
      schema: member(own, "parameters") ?? member(own, "input_schema"),
      strict: member(own, "strict"),
    };
  });
}

export const objectSchema = (properties: Readonly<Record<string, JsonValue>>): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The longest name that providers accept. */
const LONG_NAME = "get-weather_of-a-city_with-a-name-of-64-characters_1234567890123";

/** Schemas whose keywords are easily lost, reordered or rewritten in transit. */
export const RICH_TOOLS: readonly ToolDefinition[] = [
  {
    name: LONG_NAME,
    description: `${MULTIBYTE_TEXT}\n${SPECIAL_TEXT}`,
    schema: {
      type: "object",
      $defs: {
        node: {
          type: "object",
          properties: { "näme ☃": { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
          required: ["näme ☃"],
        },
      },
      properties: {
        tree: { $ref: "#/$defs/node" },
        type: { type: "string", enum: ["properties", "required", "$ref", ""] },
        mixed: { enum: [null, 1, 2.5, true, "true", "1"] },
        fixed: { const: { a: [null, false, 0] } },
        price: { type: "number", exclusiveMinimum: 0, maximum: 9_007_199_254_740_991, multipleOf: 0.01 },
        tiny: { type: "number", minimum: -1.5e-9, default: 0.1 },
        code: { type: "string", pattern: '^\\d{3}-[A-Z\\\\"]+$', minLength: 5, maxLength: 5, examples: ['123-"'] },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false, minItems: 2 },
        one: { oneOf: [{ type: "string" }, { type: ["integer", "null"], default: null }] },
        anything: {},
        map: { type: "object", additionalProperties: { type: "array", items: { type: "string", format: "date" } } },
      },
      required: ["tree", "type"],
      additionalProperties: false,
    },
  },
  { name: "no_arguments", description: "Takes no arguments.", schema: { type: "object", properties: {} } },
  {
    name: "strict_tool",
    description: "Its arguments must follow the schema.",
    schema: objectSchema({ city: { type: "string" }, wind: objectSchema({ fresh: { type: "boolean" } }) }),
    strict: true,
  },
];

/**
 * More than any provider's limit that a gateway might apply to itself: 128 is the most common. Short, so that the provider can
 * record all of them even if they are indented.
 */
export const MANY_TOOLS: readonly ToolDefinition[] = Array.from({ length: 200 }, (_none, index) => ({
  name: `tool_${index}`,
  description: `Tool ${index}.`,
  schema: {
    type: "object",
    properties: { [`a${index}`]: { type: index % 2 === 0 ? "string" : "integer" } },
    ...(index % 2 === 0 ? { additionalProperties: false } : {}),
  },
}));

export const WEATHER: ToolDefinition = {
  name: "get_weather",
  description: "Current weather of a city",
  schema: { type: "object", additionalProperties: true },
};
export const TIME: ToolDefinition = { ...WEATHER, name: "get_time", description: "Local time of a city" };

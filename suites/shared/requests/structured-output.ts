import type { Dialect } from "../../../src/dialects/index.ts";

/** Limited to what every provider of structured outputs accepts: all fields required, no others. */
export const STRUCTURED_SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string" },
    celsius: { type: "number" },
    sky: { type: "string", enum: ["clear", "cloudy", "rain"] },
    hours: { type: "array", items: { type: "integer" } },
    wind: {
      type: "object",
      properties: { fresh: { type: "boolean" } },
      required: ["fresh"],
      additionalProperties: false,
    },
  },
  required: ["city", "celsius", "sky", "hours", "wind"],
  additionalProperties: false,
};

export const STRUCTURED_PROMPT = "Make up a weather report for Oslo.";

/** The fields that clients of the dialect use to request JSON with a schema. */
export function structuredFields(dialect: Dialect): Readonly<Record<string, unknown>> {
  return dialect === "chat"
    ? {
        response_format: {
          type: "json_schema",
          json_schema: { name: "weather", strict: true, schema: STRUCTURED_SCHEMA },
        },
      }
    : { output_config: { format: { type: "json_schema", schema: STRUCTURED_SCHEMA } } };
}

import { isObject } from "../../../src/core/index.ts";
import { type Dialect, parseJson } from "../../../src/dialects/index.ts";

const SKIES = ["clear", "cloudy", "rain"];

/** Limited to what every provider of structured outputs accepts: all fields required, no others. */
const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string" },
    celsius: { type: "number" },
    sky: { type: "string", enum: SKIES },
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
    ? { response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema: SCHEMA } } }
    : { output_config: { format: { type: "json_schema", schema: SCHEMA } } };
}

const PLACES: Readonly<Record<string, (value: unknown) => boolean>> = {
  "/city": (value) => typeof value === "string",
  "/celsius": (value) => typeof value === "number",
  "/sky": (value) => SKIES.includes(String(value)),
  "/hours": (value) => Array.isArray(value) && value.every(Number.isInteger),
  "/wind": (value) => isObject(value) && typeof value["fresh"] === "boolean" && Object.keys(value).length === 1,
};

/** How a reply deviates from the schema; `undefined` if it does not. */
export function misfitOf(text: string): string | undefined {
  const value = parseJson(text);
  if (value === undefined) return "text that is not JSON";
  if (!isObject(value)) return "JSON that is not an object";
  for (const [place, fits] of Object.entries(PLACES)) {
    const name = place.slice(1);
    if (!(name in value)) return `no ${place}`;
    if (!fits(value[name])) return `${JSON.stringify(value[name])?.slice(0, 80)} at ${place}`;
  }
  const more = Object.keys(value).find((name) => !(`/${name}` in PLACES));
  return more === undefined ? undefined : `a further field /${more}`;
}

import type { Dialect } from "../../src/wire/index.ts";

/** A tool as each dialect defines it. */
export function aTool(dialect: Dialect): object {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const named = { name: "get_weather", description: "Current weather of a city" };
  return dialect === "chat"
    ? { type: "function", function: { ...named, parameters: schema } }
    : { ...named, input_schema: schema };
}

import type { Dialect } from "../../src/dialects/index.ts";

/** Names of tools with what they are for. */
export const ONE_TOOL = { get_weather: "Current weather of a city" };
export const TWO_TOOLS = { ...ONE_TOOL, get_time: "Local time of a city" };

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** Tools as each dialect defines them. */
export function toolsOf(dialect: Dialect, tools: Readonly<Record<string, string>>): readonly unknown[] {
  return Object.entries(tools).map(([name, description]) =>
    dialect === "chat"
      ? { type: "function", function: { name, description, parameters: PARAMETERS } }
      : { name, description, input_schema: PARAMETERS },
  );
}

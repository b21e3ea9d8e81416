import type { Dialect } from "./dialect.ts";

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** Tools as each dialect defines them, by their names with what they are for. Each takes a city. */
export function toolsOf(dialect: Dialect, tools: Readonly<Record<string, string>>): readonly unknown[] {
  return Object.entries(tools).map(([name, description]) =>
    dialect === "chat"
      ? { type: "function", function: { name, description, parameters: PARAMETERS } }
      : { name, description, input_schema: PARAMETERS },
  );
}

import type { Dialect } from "./dialect.ts";

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** Tool definitions in each dialect, by name and purpose. Each takes a city. */
export function toolsOf(dialect: Dialect, tools: Readonly<Record<string, string>>): readonly unknown[] {
  return Object.entries(tools).map(([name, description]) =>
    dialect === "chat"
      ? { type: "function", function: { name, description, parameters: PARAMETERS } }
      : { name, description, input_schema: PARAMETERS },
  );
}

import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../../src/core/index.ts";
import { parseJson } from "../../../src/dialects/index.ts";

/** How a reply text deviates from a JSON Schema (2020-12): the first place where it does; `undefined` if it does not. */
export function schemaMisfit(text: string, schema: JsonObject): string | undefined {
  const value = parseJson(text);
  if (value === undefined) return "text that is not JSON";
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  if (ajv.validate(schema, value)) return undefined;
  const [error] = ajv.errors ?? [];
  return `JSON that does not match the schema: ${error?.instancePath || "the whole value"} ${error?.message}`;
}

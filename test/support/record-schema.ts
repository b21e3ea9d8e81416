import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { RunRecord } from "../../src/record/index.ts";
import { impossibleFigures } from "./impossible.ts";

const schema = JSON.parse(readFileSync(new URL("../../schemas/run.schema.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { "date-time": true } });
const validate = ajv.compile(schema);

/** Problems of the record of a run folder: schema violations, and impossible figures. None without a record. */
export function recordProblems(folder: string): string[] {
  const file = join(folder, "run.json");
  if (!existsSync(file)) return [];
  const record: RunRecord = JSON.parse(readFileSync(file, "utf8"));
  if (validate(record as unknown)) return record.complete ? impossibleFigures(record) : [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${file}${instancePath}: ${message}`);
}

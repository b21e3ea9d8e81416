import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunRecord } from "../../src/record/index.ts";

export interface NamedRun {
  readonly name: string;
  readonly record: RunRecord;
}

/** Runs named on the command line: `NAME=RUN_FOLDER …`. */
export function namedRuns(): NamedRun[] {
  return process.argv.slice(2).map((argument) => {
    const [name = "", folder = ""] = argument.split("=");
    return { name, record: JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as RunRecord };
  });
}

/** Text for a cell of a table in Markdown. */
export function cellText(text: string): string {
  return text.replaceAll("|", "\\|");
}

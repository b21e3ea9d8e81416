import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Traffic } from "../../checks/index.ts";
import { EXIT, UsageError } from "../../core/index.ts";
import { loadTarget } from "../../target/index.ts";
import type { Outcome } from "../outcome.ts";
import { propose } from "./propose.ts";

/**
 * Proposes a target file for the gateway of a target file.
 *
 * @param out where to write it; without it the text is what is printed.
 * @throws UsageError when `out` is there already, ConfigError for a target file that does not load, UnreachableError when
 *   nothing answers.
 */
export async function proposeFile(file: string, out: string | undefined): Promise<Outcome> {
  if (out !== undefined && existsSync(out))
    throw new UsageError(`${out} already exists`, { hint: "Name another file, and compare the two." });
  const target = loadTarget(file, process.env);
  await using traffic = new Traffic({ target, seed: 1, signal: new AbortController().signal });
  const yaml = await propose(traffic, readFileSync(file, "utf8"));
  if (out !== undefined) writeFileSync(out, yaml);
  const { requests } = traffic.budget;
  return {
    exitCode: EXIT.pass,
    document: { schemaVersion: 1, exitCode: EXIT.pass, requests, yaml, ...(out !== undefined && { file: out }) },
    text: () => (out === undefined ? yaml : `wrote ${out}, after ${requests} requests\n`),
  };
}

import { join } from "node:path";
import { UsageError } from "../core/index.ts";

/** The error of a file of a run folder that lacks what the run had written to it. @param missing what is not there. */
export function truncatedFile(folder: string, file: string, missing: string): UsageError {
  return new UsageError(`${join(folder, file)} is truncated or damaged: it lacks ${missing}`, {
    hint: "Copy the folder of the run again, or repeat the run.",
  });
}

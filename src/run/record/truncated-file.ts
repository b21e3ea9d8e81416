import { join } from "node:path";
import { UsageError } from "../../core/index.ts";

/** The error for a truncated file in a run folder. @param missing what the file lacks. */
export function truncatedFile(folder: string, file: string, missing: string): UsageError {
  return new UsageError(`${join(folder, file)} is truncated or damaged: it lacks ${missing}`, {
    hint: "Copy the run folder again, or repeat the run.",
  });
}

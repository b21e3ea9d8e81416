import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UsageError } from "../../core/index.ts";

/** The version that we run the scripts with. */
export const K6_VERSION = "1.8.1";
const INSTALL = `Install it with \`go install go.k6.io/k6@v${K6_VERSION}\`, or name it with --k6 PATH or K6_PATH.`;

/**
 * Finds k6: the given path, then `K6_PATH`, then `PATH`.
 *
 * @throws UsageError with install instructions if there is none.
 */
export function findK6(named: string | undefined, environment: NodeJS.ProcessEnv): string {
  const requested = named ?? environment["K6_PATH"];
  if (requested !== undefined && requested !== "") {
    if (isProgram(requested)) return requested;
    throw new UsageError(`no k6 found at ${requested}`, { hint: INSTALL });
  }
  const found = (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .flatMap((folder) => [join(folder, "k6"), join(folder, "k6.exe")])
    .find(isProgram);
  if (found === undefined) throw new UsageError("k6 is not installed", { hint: INSTALL });
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing or not executable: either way it is not k6.
    return false;
  }
}

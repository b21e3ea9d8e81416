import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../core/index.ts";

/** How deep runs are searched below a folder, as in the artifacts of several jobs. */
const MAX_DEPTH = 4;

interface Wording {
  /** The option that names the folder. */
  readonly option?: string;
  /** What to name instead. */
  readonly hint: string;
}

/**
 * The folders of runs in a folder, or this folder itself.
 *
 * @throws UsageError if it is not a folder, or holds no runs.
 */
export function runFolders(path: string, { option, hint }: Wording): string[] {
  const prefix = option === undefined ? "" : `${option}: `;
  if (!isFolder(path))
    throw new UsageError(prefix + (existsSync(path) ? `${path} is not a folder` : `there is no folder "${path}"`), {
      hint,
    });
  const found = below(path, MAX_DEPTH);
  if (found.length === 0) throw new UsageError(`${prefix}${path} holds no runs`, { hint });
  return found;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function below(path: string, depth: number): string[] {
  if (["run.json", "journal.ndjson.gz"].some((name) => existsSync(join(path, name)))) return [path];
  if (depth === 0) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => below(join(path, name), depth - 1));
}

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ReportSource } from "../../../reports/index.ts";
import type { ClaimFile } from "../../claims/index.ts";
import { UsageError } from "../../core/index.ts";
import { claimDifferences, recordDigest } from "../../run/claims/index.ts";
import { openSource } from "../../run/record/index.ts";

/** How deep runs are searched below a folder. */
const MAX_DEPTH = 4;

/**
 * The records of claims: each claim whose record is in the folder is computed again and compared byte for byte.
 *
 * @returns the records of the claims that have one.
 * @throws UsageError if the folder has no runs, or lists the claims that do not follow from the record of their run.
 */
export function verifiedRecords(files: readonly ClaimFile[], dir: string): ReadonlyMap<ClaimFile, ReportSource> {
  const folders = runFolders(dir);
  const digests = new Map(folders.map((folder) => [recordDigest(folder).sha256, folder]));
  const sources = new Map<ClaimFile, ReportSource>();
  const problems: string[] = [];
  for (const file of files) {
    const folder = digests.get(file.claim.record.sha256) ?? folderOfRun(folders, file);
    if (folder === undefined) continue;
    const differences = claimDifferences(file.text, folder);
    if (differences.length === 0) sources.set(file, openSource(folder));
    else problems.push(`${file.path} does not follow from the record in ${folder}:\n  ${differences.join("\n  ")}`);
  }
  if (problems.length > 0)
    throw new UsageError(problems.join("\n"), {
      hint: "A claim or its record was changed, or another version judged it. Nothing was written.",
    });
  return sources;
}

/** The record of the run that a claim names, although its digest is another one: one of the two was changed. */
function folderOfRun(folders: readonly string[], { claim }: ClaimFile): string | undefined {
  return folders.find((folder) => openSource(folder).record.runId === claim.run.id);
}

function runFolders(dir: string): string[] {
  if (!(statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false))
    throw new UsageError(`--records: no folder ${dir}`, { hint: "Name a folder with the runs of the claims." });
  const found = below(dir, MAX_DEPTH);
  if (found.length === 0)
    throw new UsageError(`--records: ${dir} holds no runs`, { hint: "Name a folder with the runs of the claims." });
  return found;
}

function below(dir: string, depth: number): string[] {
  if (existsSync(join(dir, "run.json"))) return [dir];
  if (depth === 0) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => below(join(dir, name), depth - 1));
}

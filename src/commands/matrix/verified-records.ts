import type { ReportSource } from "../../../reports/index.ts";
import type { ClaimFile } from "../../claims/index.ts";
import { UsageError } from "../../core/index.ts";
import { claimDifferences, recordDigest } from "../../run/claims/index.ts";
import { runFolders } from "../../run/open/index.ts";
import { openSource, readOrRecover } from "../../run/record/index.ts";

/**
 * The records of claims: each claim whose record is in the folder is computed again and compared byte for byte.
 *
 * @returns the records of the claims that have one.
 * @throws UsageError if the folder has no runs, or lists the claims that do not follow from the record of their run.
 */
export function verifiedRecords(files: readonly ClaimFile[], dir: string): ReadonlyMap<ClaimFile, ReportSource> {
  const folders = runFolders(dir, { option: "--records", hint: "Name a folder with the runs of the claims." });
  const byDigest = foldersBy(folders, (folder) => recordDigest(folder).sha256);
  const byRun = foldersBy(folders, (folder) => readOrRecover(folder).runId);
  const sources = new Map<ClaimFile, ReportSource>();
  const problems: string[] = [];
  for (const file of files) {
    // The record of the run that a claim names may have another digest: then one of the two was changed.
    const folder = byDigest.get(file.claim.record.sha256) ?? byRun.get(file.claim.run.id);
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

/** The readable folders by a key computed from their files; the first folder with a key wins. */
function foldersBy(folders: readonly string[], keyOf: (folder: string) => string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const folder of folders) {
    try {
      const key = keyOf(folder);
      if (!found.has(key)) found.set(key, folder);
    } catch {
      // A damaged run verifies nothing: its claim is shown as one without a record.
    }
  }
  return found;
}

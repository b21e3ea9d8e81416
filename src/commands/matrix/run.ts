import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeExitCode, describeProfiles, oneLine, type ReportSource } from "../../../reports/index.ts";
import { BADGE_MARK, type MatrixClaim, type OverheadRecord, renderMatrix } from "../../../reports/matrix/index.ts";
import { byGateway, type ClaimFile, changesOf, readClaims } from "../../claims/index.ts";
import { EXIT, fileProblem, UsageError } from "../../core/index.ts";
import { readRecord, writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { verifiedRecords } from "./verified-records.ts";

export interface MatrixOptions {
  /** Files of claims. */
  readonly claims: readonly string[];
  /** Folder to write to. */
  readonly out: string;
  /** Folder with runs. */
  readonly records?: string | undefined;
  /** Folder of a run of `gauntlet overhead`. */
  readonly overhead?: string | undefined;
}

/**
 * Writes a page that shows claims next to each other, with a feed of changes, badges and a table for a README. Inconclusive if
 * records are given, and none of them verifies a claim.
 *
 * @throws UsageError if a claim is damaged, repeats another one, or does not follow from its record; nothing is written then.
 */
export function matrix({ claims: paths, out, records, overhead }: MatrixOptions): Outcome {
  const files = readClaims(paths);
  const verified: ReadonlyMap<ClaimFile, ReportSource> =
    records === undefined ? new Map() : verifiedRecords(files, records);
  const claims = files.map((file) => ({ claim: file.claim, record: verified.get(file) }));
  const measured = overhead === undefined ? undefined : overheadOf(overhead);
  const rendered = renderMatrix({ claims, hasRecords: records !== undefined, overhead: measured });
  const written = write(out, rendered);
  const shown = byGateway(claims).flatMap((gateway) => [...gateway.claims]);
  const isUnproven = records !== undefined && verified.size === 0;
  const exitCode = isUnproven ? EXIT.inconclusive : EXIT.pass;
  return {
    exitCode,
    document: {
      schemaVersion: 1,
      exitCode,
      written,
      claims: shown.map(({ claim, record }) => ({
        gateway: claim.gateway.name,
        version: claim.gateway.version,
        runId: claim.run.id,
        verified: record !== undefined,
        profiles: claim.profiles.map(({ name, version, result }) => ({ name, version, result })),
      })),
      changes: changesOf(claims).changes,
    },
    text: ({ bold }) =>
      [
        ...shown.map((one) => lineOf(one, { bold, hasRecords: records !== undefined })),
        `Open ${join(out, "index.html")}`,
        (isUnproven ? describeExitCode(exitCode) : `exit code ${exitCode}`) +
          (isUnproven ? `: no claim was verified: ${records} contains no record of these claims` : ""),
        "",
      ].join("\n"),
  };
}

/** @throws UsageError if the folder has no finished measurement. */
function overheadOf(folder: string): OverheadRecord {
  const record = readRecord(folder);
  const { overhead } = record;
  if (overhead !== undefined) return { ...record, overhead };
  throw new UsageError(
    `--overhead: ${folder} is a run of \`gauntlet ${record.command}\`, not of \`gauntlet overhead\``,
    {
      hint: "Name the folder of a run of `gauntlet overhead`.",
    },
  );
}

/** Maximum length of a gateway's name and version, and of the results of its profiles. */
const MAX_TITLE = 120;
const MAX_PROFILES = 2_000;

interface LineContext {
  readonly bold: (text: string) => string;
  readonly hasRecords: boolean;
}

function lineOf({ claim, record }: MatrixClaim, { bold, hasRecords }: LineContext): string {
  const { name, version } = claim.gateway;
  const verified = record !== undefined ? " [verified]" : hasRecords ? " [no record given]" : "";
  const title = oneLine(`${name}, ${version ?? "version not stated"}`, MAX_TITLE);
  return `${bold(title)}${verified}: ${oneLine(describeProfiles(claim.profiles), MAX_PROFILES)}`;
}

/** Also deletes the badges of an earlier matrix that no claim has any more: they would state an outdated result. */
function write(out: string, files: ReadonlyMap<string, string>): string[] {
  try {
    mkdirSync(out, { recursive: true });
    for (const name of readdirSync(out)) {
      if (!/^badge-.*\.svg$/.test(name) || files.has(name)) continue;
      const path = join(out, name);
      if (readFileSync(path, "utf8").includes(BADGE_MARK)) rmSync(path);
    }
  } catch (error) {
    throw new UsageError(`--out: ${out} cannot be written: ${fileProblem(error)}`, { cause: error });
  }
  return [...files].map(([name, text]) => {
    const path = join(out, name);
    writeAtomically(path, text);
    return path;
  });
}

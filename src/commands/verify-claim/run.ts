import { describeExitCode, describeProfiles, oneLine } from "../../../reports/index.ts";
import { readClaim } from "../../claims/index.ts";
import { EXIT } from "../../core/index.ts";
import { readRecord } from "../../record/index.ts";
import { claimDifferences } from "../../run/claims/index.ts";
import type { Outcome } from "../../run/control/index.ts";

/** Maximum length of a line with text of a claim or its record. */
const MAX_LINE = 2_000;

export interface VerifyOptions {
  /** File of the claim. */
  readonly claim: string;
  /** Folder of the run. */
  readonly record: string;
}

/**
 * Judges the recording of a run again and compares the claim that follows with a given one, byte for byte.
 *
 * @throws UsageError if the file is not a claim, or the folder holds no run.
 */
export function verifyClaim({ claim: path, record: dir }: VerifyOptions): Outcome {
  const { claim, text } = readClaim(path);
  readRecord(dir);
  const differences = claimDifferences(text, dir);
  const isVerified = differences.length === 0;
  const exitCode = isVerified ? EXIT.pass : EXIT.gateFailed;
  return {
    exitCode,
    document: { schemaVersion: 1, verified: isVerified, exitCode, differences, profiles: claim.profiles },
    text: ({ green, red, bold }) =>
      [
        ...(isVerified ? [bold(oneLine(describeProfiles(claim.profiles), MAX_LINE))] : []),
        isVerified
          ? green(bold(`VERIFIED: ${path} follows from the record in ${dir}`))
          : red(bold(`REJECTED: ${path} does not follow from the record in ${dir}`)),
        ...differences.map((difference) => `  ${oneLine(difference, MAX_LINE)}`),
        ...claim.limitations.map((limitation) => `  limitation: ${oneLine(limitation, MAX_LINE)}`),
        describeExitCode(exitCode),
        "",
      ].join("\n"),
  };
}

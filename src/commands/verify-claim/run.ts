import { describeExitCode, describeProfiles } from "../../../reports/index.ts";
import { EXIT, GauntletError, isObject } from "../../core/index.ts";
import { readRecord } from "../../record/index.ts";
import { claimText, composeClaim, readClaim } from "../../run/claims/index.ts";
import type { Outcome } from "../../run/control/index.ts";

export interface VerifyOptions {
  /** File of the claim. */
  readonly claim: string;
  /** Folder of the run. */
  readonly record: string;
}

/** Maximum number of places that are listed. */
const MAX_DIFFERENCES = 5;

/**
 * Judges the recording of a run again and compares the claim that follows with a given one, byte for byte.
 *
 * @throws UsageError if the file is not a claim, or the folder holds no run.
 */
export function verifyClaim({ claim: path, record: dir }: VerifyOptions): Outcome {
  const { claim, text } = readClaim(path);
  readRecord(dir);
  const differences = differencesOf(text, dir);
  const isVerified = differences.length === 0;
  const exitCode = isVerified ? EXIT.pass : EXIT.gateFailed;
  return {
    exitCode,
    document: { schemaVersion: 1, verified: isVerified, exitCode, differences, profiles: claim.profiles },
    text: ({ green, red, bold }) =>
      [
        ...(isVerified ? [bold(describeProfiles(claim.profiles))] : []),
        isVerified
          ? green(bold(`VERIFIED: ${path} follows from the record in ${dir}`))
          : red(bold(`REJECTED: ${path} does not follow from the record in ${dir}`)),
        ...differences.map((difference) => `  ${difference}`),
        ...claim.limitations.map((limitation) => `  limitation: ${limitation}`),
        describeExitCode(exitCode),
        "",
      ].join("\n"),
  };
}

function differencesOf(text: string, dir: string): string[] {
  let expected: string;
  try {
    expected = claimText(composeClaim(dir));
  } catch (error) {
    // A damaged or changed record is a reason to reject the claim, not a mistake in using the command.
    if (!(error instanceof GauntletError)) throw error;
    return [error.message];
  }
  if (expected === text) return [];
  const found = [...differing(JSON.parse(text), JSON.parse(expected), "")];
  if (found.length === 0) return ["the same values are written differently: other spaces, or another order of fields"];
  const more = found.length - MAX_DIFFERENCES;
  return [...found.slice(0, MAX_DIFFERENCES), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** Where two JSON values differ, with both values. */
function* differing(claimed: unknown, computed: unknown, at: string): Generator<string> {
  if (isContainer(claimed) && isContainer(computed)) {
    for (const name of new Set([...Object.keys(claimed), ...Object.keys(computed)]))
      yield* differing(valueIn(claimed, name), valueIn(computed, name), `${at}/${name}`);
  } else if (claimed !== computed) yield `${at}: the claim has ${shown(claimed)}, the record gives ${shown(computed)}`;
}

const isContainer = (value: unknown): value is object => isObject(value) || Array.isArray(value);
const valueIn = (container: object, name: string): unknown =>
  Object.entries(container).find(([key]) => key === name)?.[1];

/** Maximum length of a value in a message. */
const MAX_SHOWN_CHARACTERS = 100;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

import { readFileSync } from "node:fs";
import { fileProblem, messageOf, UsageError } from "../../core/index.ts";
import { type Claim, claimSchema } from "./claim.ts";

/** Maximum number of problems that an error lists. */
const MAX_PROBLEMS = 5;

/**
 * Reads a claim.
 *
 * @throws UsageError if the file cannot be read or is not a claim.
 */
export function readClaim(path: string): { readonly claim: Claim; readonly text: string } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${fileProblem(error)}`, { cause: error });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not a claim: ${messageOf(error)}`, { hint: HINT, cause: error });
  }
  const read = claimSchema.safeParse(json);
  if (read.success) return { claim: read.data, text };
  const problems = read.error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path: at, message }) => `/${at.map(String).join("/")}: ${message}`);
  throw new UsageError(`${path} is not a claim:\n  ${problems.join("\n  ")}`, { hint: HINT });
}

const HINT = "`gauntlet report DIR --format claim` writes one.";

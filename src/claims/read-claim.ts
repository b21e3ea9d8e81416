import { readFileSync } from "node:fs";
import { fileProblem, isObject, messageOf, UsageError } from "../core/index.ts";
import { CLAIM_VERSION, type Claim, claimSchema } from "./claim.ts";

/** Maximum number of problems that an error lists. */
const MAX_PROBLEMS = 5;

/** A claim and the bytes that it was read from. */
export interface ReadClaim {
  readonly claim: Claim;
  readonly text: string;
}

/**
 * Reads a claim.
 *
 * @throws UsageError if the file cannot be read, is not a claim, or has another schema version.
 */
export function readClaim(path: string): ReadClaim {
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
  const version = isObject(json) && json["kind"] === "gauntlet-claim" ? json["schemaVersion"] : CLAIM_VERSION;
  if (version !== CLAIM_VERSION) {
    throw new UsageError(
      `${path} is a claim of another schema version:\n  /schemaVersion: expected ${CLAIM_VERSION}, the file has ${JSON.stringify(version)?.slice(0, 40) ?? "none"}`,
      { hint: "Use the version of Gauntlet that wrote it: /harness names it." },
    );
  }
  const read = claimSchema.safeParse(json);
  if (read.success) return { claim: read.data, text };
  const problems = read.error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path: at, message }) => `/${at.map(String).join("/")}: ${message}`);
  throw new UsageError(`${path} is not a claim:\n  ${problems.join("\n  ")}`, { hint: HINT });
}

const HINT = "`gauntlet report DIR --format claim` writes one.";

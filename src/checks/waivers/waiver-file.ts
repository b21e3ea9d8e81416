import * as z from "zod";
import { ConfigError, type ConfigProblem } from "../../core/index.ts";
import type { Waiver } from "../../record/index.ts";
import { readText, readYaml } from "../../target/index.ts";

const text = z.string().trim().min(1);

const waiverEntry = z.strictObject({
  checks: z.array(text).min(1).meta({ description: "Instances that fail in this way, as reports name them." }),
  reason: text.meta({ description: "Why it is accepted for now." }),
  owner: text.meta({ description: "Who is responsible for the fix." }),
  expires: z.iso.date().meta({ description: "Last day on which it is valid (UTC), YYYY-MM-DD." }),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{12}$/, "must be a fingerprint of twelve digits, as `gauntlet waivers suggest` prints it")
    .meta({ description: "How it fails; other failures are not covered." }),
  magnitudes: z.record(z.string(), z.number().nonnegative()).meta({
    description:
      "Size of the failure by finding: a share, or a multiple of a bound. A failure of more than twice this size is not covered.",
  }),
});

export const waiverFileSchema = z
  .strictObject({ waivers: z.array(waiverEntry) })
  .meta({ title: "Gauntlet waivers", description: "Known failures that are accepted until a date." });

/** The JSON Schema that editors use; published as `schemas/waivers.schema.json`. */
export function waiversJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(waiverFileSchema) as Record<string, unknown>;
}

/** @throws ConfigError; if fingerprints or magnitudes are missing, its hint says how to get them. */
function readFile(path: string) {
  try {
    return readYaml(readText(path), path, waiverFileSchema);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isMissing = error.problems.some(({ path: at }) => /\.(?:fingerprint|magnitudes)\b/.test(at));
    if (!isMissing) throw error;
    throw new ConfigError(error.problems, {
      hint: "`gauntlet waivers suggest RUN` writes the fingerprints and magnitudes of a failed run.",
      cause: error,
    });
  }
}

/**
 * Reads a waiver file.
 *
 * @throws ConfigError with all problems, each with its line: syntax, unknown or missing fields, invalid dates, an instance
 * named by two waivers.
 */
export function loadWaivers(path: string): Waiver[] {
  const { value, place } = readFile(path);
  const seen = new Map<string, string>();
  const problems: ConfigProblem[] = [];
  const waivers = value.waivers.flatMap(({ checks, ...entry }, index) =>
    checks.map((check, at) => {
      const steps = ["waivers", index, "checks", at];
      const line = place(steps)?.line;
      const where = `${path}:${line ?? 1}`;
      const before = seen.get(check);
      if (before !== undefined) {
        problems.push({
          file: path,
          ...place(steps),
          path: steps.join("."),
          message: `${check} is waived twice, first at ${before}.`,
        });
      }
      seen.set(check, where);
      return { check, ...entry, place: where };
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return waivers;
}

import { GauntletError, UsageError } from "../core/index.ts";
import type { Claim } from "./claim.ts";
import { contradictionsOf } from "./contradictions.ts";
import { type ReadClaim, readClaim } from "./read-claim.ts";

/** A claim that can stand next to others, and its file. */
export interface ClaimFile extends ReadClaim {
  readonly path: string;
}

/**
 * Reads claims that are compared with each other. None is skipped: one damaged file is an error, because its gateway would
 * otherwise silently disappear.
 *
 * @throws UsageError that lists every file that is damaged, has another schema version, contradicts itself, or repeats another one.
 */
export function readClaims(paths: readonly string[]): ClaimFile[] {
  const problems: string[] = [];
  const read = paths.flatMap((path): ClaimFile[] => {
    try {
      const file = { path, ...readClaim(path) };
      const wrong = contradictionsOf(file.claim);
      if (wrong.length === 0) return [file];
      problems.push(`${path} contradicts itself:\n  ${wrong.slice(0, MAX_CONTRADICTIONS).join("\n  ")}`);
    } catch (error) {
      if (!(error instanceof GauntletError)) throw error;
      problems.push(error.message);
    }
    return [];
  });
  problems.push(...repetitions(read));
  if (problems.length > 0)
    throw new UsageError(problems.join("\n"), {
      hint: "Compute each claim from its run: `gauntlet report DIR --format claim`. Nothing was written.",
    });
  return read;
}

const MAX_CONTRADICTIONS = 5;

/** What must differ between any two claims: the run, and the build that was tested. */
const KEYS: readonly (readonly [at: string, what: string, keyOf: (claim: Claim) => string])[] = [
  ["/record/sha256", "the record", ({ record }) => record.sha256],
  ["/run/id", "the run", ({ run }) => run.id],
  ["/gateway", "the name and version of the gateway", ({ gateway }) => JSON.stringify([gateway.name, gateway.version])],
];

function repetitions(files: readonly ClaimFile[]): string[] {
  return files.flatMap((file, index) => {
    const earlier = files.slice(0, index);
    for (const [at, what, keyOf] of KEYS) {
      const same = earlier.find(({ claim }) => keyOf(claim) === keyOf(file.claim));
      if (same !== undefined)
        return [
          `${file.path} repeats ${same.path}:\n  ${at}: ${what} is the same. Keep one of them, or give each configuration of a gateway its own \`name\` in the target file`,
        ];
    }
    return [];
  });
}

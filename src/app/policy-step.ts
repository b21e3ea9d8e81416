import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { CHECKS } from "../../suites/index.ts";
import { suiteOf } from "../checks/index.ts";
import { ConfigError, fileProblem } from "../core/index.ts";
import {
  againstBaseline,
  applyPolicy,
  confirmed,
  decideByPolicy,
  type Policy,
  parseBaseline,
  policySchema,
  toConfirm,
} from "../policy/index.ts";
import type { RunRecord } from "../record/index.ts";
import { isRequirementId } from "../requirements/index.ts";
import { readYaml } from "../target/index.ts";

/**
 * Reads a policy and the baseline that it names, before anything is sent.
 *
 * @param baseline in place of the file that the policy names.
 * @throws ConfigError with every problem of the file.
 */
export function readPolicy(path: string, baseline?: string): Policy {
  const text = readText(path);
  const { value: file, place } = readYaml(text, path, policySchema);
  const suites = new Set(CHECKS.map(({ id }) => suiteOf(id)));
  const unknown = [
    ...(file.require?.suites ?? []).map((name, index) => ({ what: "suite", name, index, known: suites.has(name) })),
    ...(file.require?.requirements ?? []).map((name, index) => ({
      what: "requirement",
      name,
      index,
      known: isRequirementId(name),
    })),
  ].filter(({ known }) => !known);
  if (unknown.length > 0) {
    throw new ConfigError(
      unknown.map(({ what, name, index }) => {
        const at = ["require", `${what}s`, index];
        return { file: path, ...place(at), path: at.join("."), message: `there is no ${what} "${name}".` };
      }),
    );
  }
  const named = baseline ?? (file.baseline === undefined ? undefined : resolve(dirname(path), file.baseline));
  return {
    source: path,
    sha256: createHash("sha256").update(text).digest("hex"),
    file,
    baseline: named === undefined ? undefined : { source: shown(named), file: readBaseline(named) },
  };
}

/** A baseline that is not there yet is no problem of the file: gates that need it are not decided, and say so. */
export function readBaseline(path: string) {
  return existsSync(path) ? parseBaseline(readText(path), path) : undefined;
}

export interface PolicyStep {
  readonly policy: Policy;
  /** Whether the run meant to run every check. */
  readonly whole: boolean;
  /** Measures load runs once more; absent: failed performance gates are not confirmed. */
  readonly again?: ((names: readonly string[]) => Promise<RunRecord>) | undefined;
}

/** Lays a policy over a run: its gates, what changed since the baseline, and the verdict that comes of it. */
export async function judgeByPolicy(record: RunRecord, { policy, whole, again }: PolicyStep): Promise<RunRecord> {
  let section = applyPolicy(record, policy);
  const names = toConfirm(record, policy, section);
  if (again !== undefined && names.length > 0) section = confirmed(section, applyPolicy(await again(names), policy));
  const baseline = policy.baseline?.file;
  return {
    ...record,
    policy: section,
    ...(baseline === undefined ? {} : { comparison: againstBaseline(record, baseline, whole) }),
    verdict: decideByPolicy(record.verdict, section),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${fileProblem(error)}` }], {
      cause: error,
    });
  }
}

/** As it would be written here: no absolute path of a machine goes into a record. */
function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? (path.split(/[\\/]/).at(-1) ?? path) : short;
}

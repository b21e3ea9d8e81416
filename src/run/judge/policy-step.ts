import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { CHECKS } from "../../../suites/index.ts";
import { type Check, customRequirementsOf, instancesOf, suiteOf } from "../../checks/index.ts";
import { ConfigError, didYouMean, fileProblem, UsageError } from "../../core/index.ts";
import {
  againstBaseline,
  applyPolicy,
  confirmed,
  decideByPolicy,
  gatesOf,
  isPerformance,
  type Policy,
  parseBaseline,
  policySchema,
  toConfirm,
} from "../../policy/index.ts";
import type { RunRecord } from "../../record/index.ts";
import { REQUIREMENTS } from "../../requirements/index.ts";
import { readYaml } from "../../target/index.ts";

interface PolicyContext {
  /** Replaces the file that the policy names. */
  readonly baseline?: string | undefined;
  /** All known checks; default: the built-in ones. */
  readonly checks?: readonly Check[];
}

/**
 * Reads a policy and its baseline, before anything is sent.
 *
 * @throws ConfigError with every problem of the file.
 */
export function readPolicy(path: string, { baseline, checks = CHECKS }: PolicyContext = {}): Policy {
  const text = readText(path);
  const { value: file, place } = readYaml(text, path, policySchema);
  const unknown = unknownNames(file, checks);
  if (unknown.length > 0) {
    throw new ConfigError(
      unknown.map(({ what, name, at, known }) => ({
        file: path,
        ...place(at),
        path: at.join("."),
        message: `there is no ${what} "${name}".`,
        hint: didYouMean(name, known).trim() || undefined,
      })),
    );
  }
  const named = baseline ?? (file.baseline === undefined ? undefined : resolve(dirname(path), file.baseline));
  return {
    source: path,
    sha256: createHash("sha256").update(text).digest("hex"),
    file,
    baseline: named === undefined ? undefined : { source: shown(named), file: readBaseline(named) },
    coverage: coverageOf(checks),
  };
}

/**
 * The part of a policy that a load can decide: its gates on load.
 *
 * @throws UsageError if there are none.
 */
export function policyOfLoad(policy: Policy): Policy {
  const gates = gatesOf(policy.file).filter(({ threshold }) => isPerformance(threshold.metric));
  if (gates.length === 0)
    throw new UsageError(`${policy.source} has no gate on load, such as "ttft_ms p95 < 800"`, {
      hint: "`gauntlet run --policy` decides the others.",
    });
  return {
    ...policy,
    file: {
      ...policy.file,
      require: undefined,
      load: [],
      compat: "off",
      gates: gates.map(({ threshold, level, why }) => ({ gate: threshold.text, level, why })),
    },
  };
}

interface UnknownName {
  readonly what: "suite" | "requirement" | "check";
  readonly name: string;
  readonly at: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Suite of the load checks: one for each phase of a workload, named after it. */
const LOAD_SUITE = "load";

/** Unknown names of suites, requirements and checks: a gate on one of them would never count anything. */
function unknownNames(file: Policy["file"], checks: readonly Check[]): UnknownName[] {
  const ids: string[] = checks.map(({ id }) => id);
  const suites: string[] = [...new Set(ids.map(suiteOf))];
  const requirements = [...REQUIREMENTS, ...customRequirementsOf(checks)].map(({ id }): string => id);
  const required = file.require ?? { suites: [], requirements: [] };
  return [
    ...required.suites.flatMap((name, index): UnknownName[] =>
      suites.includes(name) ? [] : [{ what: "suite", name, at: ["require", "suites", index], known: suites }],
    ),
    ...required.requirements.flatMap((name, index): UnknownName[] =>
      requirements.includes(name)
        ? []
        : [{ what: "requirement", name, at: ["require", "requirements", index], known: requirements }],
    ),
    ...gatesOf(file).flatMap(({ threshold: { labels } }, index): UnknownName[] => {
      const { suite, check } = labels;
      const at = ["gates", index];
      return [
        ...(suite === undefined || suite === LOAD_SUITE || suites.includes(suite)
          ? []
          : [{ what: "suite" as const, name: suite, at, known: [...suites, LOAD_SUITE] }]),
        ...(check === undefined || check.startsWith(`${LOAD_SUITE}.`) || ids.includes(check)
          ? []
          : [{ what: "check" as const, name: check, at, known: ids }]),
      ];
    }),
  ];
}

function coverageOf(checks: readonly Check[]): Map<string, string[]> {
  const coverage = new Map<string, string[]>();
  for (const check of checks) {
    const ids = instancesOf(check).map(({ id }) => id);
    for (const requirement of check.covers) coverage.set(requirement, [...(coverage.get(requirement) ?? []), ...ids]);
  }
  return coverage;
}

/** A missing baseline is not an error of the file: gates that need it stay undecided, and say so. */
export function readBaseline(path: string) {
  return existsSync(path) ? parseBaseline(readText(path), path) : undefined;
}

export interface PolicyStep {
  readonly policy: Policy;
  /** Measures load runs once more; absent: failed performance gates are not confirmed. */
  readonly again?: ((names: readonly string[]) => Promise<RunRecord>) | undefined;
}

/** Applies a policy to a run: its gates, the changes since the baseline, and the resulting verdict. */
export async function judgeByPolicy(record: RunRecord, { policy, again }: PolicyStep): Promise<RunRecord> {
  let section = applyPolicy(record, policy);
  const names = toConfirm(record, policy, section);
  if (again !== undefined && names.length > 0) section = confirmed(section, applyPolicy(await again(names), policy));
  const baseline = policy.baseline?.file;
  return {
    ...record,
    policy: section,
    ...(baseline === undefined ? {} : { comparison: againstBaseline(record, baseline) }),
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

/** The path as a user here would type it: absolute paths of a machine must not get into a record. */
function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? (path.split(/[\\/]/).at(-1) ?? path) : short;
}

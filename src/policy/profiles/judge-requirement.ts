import { type CheckResult, countMet, type RequirementResult, type Status } from "../../record/index.ts";
import type { Profile } from "../../requirements/index.ts";
import {
  type Covering,
  type InstancesById,
  isAbout,
  isBroken,
  judgesOf,
  type ProfileContext,
} from "./profile-scope.ts";

type Requirement = Profile["requirements"][number];
/** What keeps a requirement from being met. */
type Obstacle = Pick<RequirementResult, "result"> & { readonly check: string; readonly why: string };

/** Maximum number of check instances that a result names. */
const MAX_CHECKS = 10;

/** Worst first. */
const OBSTACLES = ["waived", "undecided", "blocked", "skipped"] as const;

/** Statuses of checks whose comparisons count. */
const JUDGED: readonly Status[] = ["pass", "warn", "fail", "flaky", "observed"];

interface Judging {
  /** Results of the run, by id. */
  readonly results: ReadonlyMap<string, CheckResult>;
  readonly context: ProfileContext;
  /** The instances of the context, by id. */
  readonly known: InstancesById;
}

/**
 * The result of one requirement of a profile. A violation counts in whatever check it was seen. It is met only if at least one
 * check of the profile compared it, and none of those that could have is missing, blocked or undecided.
 */
export function judgeRequirement(
  profile: Profile,
  { id, level, part }: Requirement,
  { results, context, known }: Judging,
): RequirementResult {
  if (part !== undefined && !context.declared.includes(part))
    return { id, level, result: "not-applicable", checks: [], met: 0, why: `the target does not declare ${part}` };
  const names = ({ requirements }: { readonly requirements: readonly string[] }) => requirements.includes(id);
  const violations = [...results.values()]
    .filter((result) => isAbout(profile, result, known) && result.status !== "blocked")
    .flatMap((check) =>
      check.findings.filter((one) => isBroken(one) && names(one)).map((finding) => ({ check, finding })),
    );
  const judges = judgesOf(profile, id, context);
  const metIn = judges.flatMap((judge) => {
    const result = results.get(judge.id);
    return result !== undefined && JUDGED.includes(result.status) && countMet(result.findings.filter(names)) > 0
      ? [result]
      : [];
  });
  const met = metIn.reduce((sum, { findings }) => sum + countMet(findings.filter(names)), 0);
  const of = (checks: readonly string[]) => ({ id, level, checks: [...new Set(checks)].slice(0, MAX_CHECKS), met });

  const unwaived = violations.filter(({ check }) => check.waived === undefined);
  const worst = unwaived.find(({ finding }) => finding.exchanges.length > 0) ?? unwaived[0];
  if (worst !== undefined) {
    const { check, finding } = worst;
    const [exchange] = finding.exchanges;
    return {
      ...of(unwaived.map((one) => one.check.id)),
      result: "broken",
      why: check.message,
      ...(exchange === undefined ? {} : { exchange }),
      ...(finding.control === undefined ? {} : { control: finding.control }),
    };
  }
  const obstacles = [
    ...violations.map(
      ({ check }): Obstacle => ({ result: "waived", check: check.id, why: check.waived?.reason ?? "" }),
    ),
    ...judges.flatMap((judge) => obstacleOf(judge, results.get(judge.id), names) ?? []),
  ];
  for (const result of OBSTACLES) {
    const [first, ...more] = obstacles.filter((one) => one.result === result);
    if (first !== undefined) return { ...of([first, ...more].map(({ check }) => check)), result, why: first.why };
  }
  if (met === 0)
    return { ...of(judges.map((judge) => judge.id)), result: "not-judged", why: "no check compared anything with it" };
  return { ...of(metIn.map((result) => result.id)), result: "met" };
}

function obstacleOf(
  judge: Covering,
  result: CheckResult | undefined,
  names: (finding: { readonly requirements: readonly string[] }) => boolean,
): Obstacle | undefined {
  const because = (kind: Obstacle["result"], why: string): Obstacle => ({ result: kind, check: judge.id, why });
  if (result === undefined) return because("skipped", "not selected");
  const { status, message, reason, findings, undecided } = result;
  switch (status) {
    case "blocked":
      return because("blocked", message);
    case "inconclusive":
    case "harness-error":
      return because("undecided", message);
    case "not-applicable":
      // A dialect that the gateway does not have is not a gap in what it claims about the other one.
      return reason?.kind === "declared-gap" && !reason.about.startsWith("dialect.")
        ? because("skipped", message)
        : undefined;
    default: {
      const open = findings.some((finding) => finding.outcome === "undecided" && names(finding));
      if (open) return because("undecided", undecided ?? message);
      const isCut = undecided !== undefined && countMet(findings.filter(names)) === 0;
      return isCut ? because("undecided", undecided) : undefined;
    }
  }
}

import { coverageOf } from "../../../src/checks/index.ts";
import { causesOf } from "../../../src/judging/index.ts";
import { MUTATIONS, VARIANTS } from "../../../src/reference-gateway/index.ts";
import { isMust, PROFILES, type Profile, REQUIREMENTS } from "../../../src/requirements/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import type { Judgement } from "./judgement.ts";
import { mayBreak } from "./may-break.ts";

/** One mutation against all checks. */
export interface Kill {
  readonly mutation: string;
  /** Requirements that the mutation declares to break. */
  readonly requirements: readonly string[];
  /** Checks that failed or warned in one of these requirements, with the requirements. */
  readonly killers: Readonly<Record<string, readonly string[]>>;
  /** Whether one of them failed, or all of them only warned; `null`: none detected it. */
  readonly foundBy: "failure" | "warning" | null;
  /** Further requirements that broke: consequences of the same defect, according to its declaration and `may-break.ts`. */
  readonly also: readonly string[];
  /** Profiles to which a gateway with the mutation does not conform. */
  readonly failedProfiles?: readonly string[];
  /** Requirement of the first cause in a verdict; absent if nothing failed or warned. */
  readonly firstCause?: string;
}

const REQUIREMENT_IDS = REQUIREMENTS.map(({ id }): string => id);

/** Requirements that a busy machine alone can break: never held against a mutation. */
export const TIMING: readonly string[] = ["STEADY-LATENCY", "STEADY-SERVICE", "ANSWER-IN-TIME", "COMPAT-MSG-STREAM"];

const DIALECT_OF = new Map(coverageOf(CHECKS).map(({ id, dialect }) => [id, dialect]));

const KILLS = ["fail", "warn", "flaky"];

const mutationOf = (name: string) => MUTATIONS.find((mutation) => mutation.name === name);

/** Determines which checks killed a mutation; no killers means that it survived. */
export function killOf({ name, bad, failedProfiles }: Judgement): Kill {
  const requirements = mutationOf(name)?.breaks ?? [];
  const broken = bad.filter(({ status }) => KILLS.includes(status));
  const own = broken.filter((result) => result.requirements.some((requirement) => requirements.includes(requirement)));
  const killers = Object.fromEntries(
    own.map(
      (result) => [result.id, result.requirements.filter((requirement) => requirements.includes(requirement))] as const,
    ),
  );
  const also = [...new Set(broken.flatMap((result) => result.requirements))]
    .filter((requirement) => !requirements.includes(requirement))
    .sort();
  const foundBy = own.length === 0 ? null : own.some(({ status }) => status === "fail") ? "failure" : "warning";
  const [cause] = causesOf(broken);
  return {
    mutation: name,
    requirements,
    killers,
    foundBy,
    also,
    ...(failedProfiles === undefined ? {} : { failedProfiles }),
    ...(cause === undefined ? {} : { firstCause: cause.requirement }),
  };
}

/** Whether the first cause in a verdict is the defect itself, and not one of its consequences. */
export function isCauseRight({ requirements, firstCause }: Kill): boolean {
  return firstCause !== undefined && requirements.includes(firstCause);
}

/** Whether a mutation breaks a MUST, of the interface or of a standard, and only a warning reports it: this counts as missed. */
export function isUnderstated({ requirements, foundBy }: Kill): boolean {
  return foundBy === "warning" && requirements.some(isMust);
}

/** What is wrong with a judgement, as text; empty if it is correct. */
export function complaints(judgement: Judgement): string[] {
  if (judgement.error !== undefined) return [`${judgement.name}: ${judgement.error}`];
  return judgement.kind === "mutations" ? ofMutation(judgement) : ofVariant(judgement);
}

function ofMutation(judgement: Judgement): string[] {
  const kill = killOf(judgement);
  const { mutation, foundBy, also, requirements } = kill;
  const allowed = mayBreak(mutationOf(mutation), REQUIREMENT_IDS);
  const stray = also.filter((requirement) => !allowed.has(requirement) && !TIMING.includes(requirement));
  const otherFailures = also.length === 0 ? "nothing failed" : `failed only in ${also.join(", ")}`;
  const musts = requirements.filter(isMust);
  return [
    ...(isUnderstated(kill) ? [`${mutation}: breaks ${musts.join(", ")}: expected a failure, got only a warning`] : []),
    ...(foundBy === null ? [`${mutation}: survived (${otherFailures}; belongs to ${requirements.join(", ")})`] : []),
    ...(stray.length > 0
      ? [`${mutation}: broke ${stray.join(", ")}, which its declaration does not allow (mayBreak)`]
      : []),
    ...profileComplaints(kill, [...requirements, ...allowed, ...TIMING]),
  ];
}

/** The profiles that fail must be exactly those that require what the mutation breaks, if a check saw it. */
function profileComplaints({ mutation, killers, failedProfiles }: Kill, allowed: readonly string[]): string[] {
  if (failedProfiles === undefined) return [];
  const missing = PROFILES.filter(
    (profile) =>
      !failedProfiles.includes(profile.name) &&
      Object.entries(killers).some(
        ([id, broken]) => isInDialect(profile, id) && broken.some((one) => mustsOf(profile).always.has(one)),
      ),
  );
  const unexpected = PROFILES.filter(
    (profile) => failedProfiles.includes(profile.name) && !allowed.some((one) => mustsOf(profile).all.has(one)),
  );
  return [
    ...missing.map(({ name }) => `${mutation}: breaks a requirement of the profile ${name}, but ${name} does not fail`),
    ...unexpected.map(({ name }) => `${mutation}: breaks no requirement of the profile ${name}, but ${name} fails`),
  ];
}

/** What a profile requires: of some targets, and of every target, whatever parts it declares. */
function mustsOf({ requirements }: Profile): Record<"all" | "always", ReadonlySet<string>> {
  const musts = requirements.filter(({ level }) => level === "MUST");
  const ids = (some: typeof musts) => new Set<string>(some.map(({ id }) => id));
  return { all: ids(musts), always: ids(musts.filter(({ part }) => part === undefined)) };
}

function isInDialect({ dialect }: Profile, instance: string): boolean {
  const of = DIALECT_OF.get(instance);
  return dialect === undefined || of === "any" || of === dialect;
}

function ofVariant({ name, bad }: Judgement): string[] {
  const variant = VARIANTS.find((candidate) => candidate.name === name);
  return bad
    .filter(
      ({ id, status, requirements }) =>
        !(status === "warn" && requirements.every((requirement) => variant?.warns?.includes(requirement))) &&
        !(status === "blocked" && variant?.blocks?.some((check) => id.startsWith(`${check}[`))),
    )
    .map(({ id, status, message }) => `${name}: ${id} ${status}: ${message}`);
}

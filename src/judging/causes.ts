import { adviceFor, type CauseFacts, causeTitle } from "../../reports/text/index.ts";
import { groupBy } from "../core/index.ts";
import type { Cause, CheckResult, Finding, Status } from "../record/index.ts";
import { DENIALS, REQUIREMENTS, type RequirementId } from "../requirements/index.ts";
import { groupByDeviation, isMalformed, isRoot, mainOf, type Symptom } from "./deviations.ts";

/** Results that have a cause, worst first. */
const WITH_CAUSE: readonly Status[] = ["fail", "flaky", "warn"];

/** The specification before the standards, and those before client needs; the more basic requirement first. */
const ORDER: readonly string[] = [
  ...REQUIREMENTS.map(({ id }) => id).filter((id) => id !== "LIMIT-1" && id !== "LIMIT-2"),
  // Whose limit it is, and its value, matter less than which limit is violated.
  "LIMIT-1",
  "LIMIT-2",
];
/** Custom requirements rank last. */
const rankOf = (requirement: string): number => {
  const rank = ORDER.indexOf(requirement);
  return rank === -1 ? ORDER.length : rank;
};
const AREAS: ReadonlyMap<string, string> = new Map(REQUIREMENTS.map(({ id, area }) => [id, area]));
const areaOf = (requirement: string): string | undefined => AREAS.get(requirement);
const LAYERS: ReadonlyMap<string, number> = new Map(
  REQUIREMENTS.map(({ id, layer }) => [id, ["specification", "protocol", "compat"].indexOf(layer)]),
);

/**
 * The few deviations behind many findings: the same deviation is one cause, in whatever dialect, mode, state, endpoint or
 * requirement it occurs. If the status of a response was wrong, everything else wrong with it follows from that. Failures come
 * before warnings, then what explains most checks, then the more basic requirement; of warnings, the specification first.
 *
 * @param results of a run; waived ones have no cause.
 */
export function causesOf(results: readonly Judged[]): Cause[] {
  return [...causesByDeviation(results).values()];
}

type Judged = Pick<CheckResult, "id" | "status" | "findings" | "waived">;

/** The same causes, in the same order, each under the common key of its findings. */
export function causesByDeviation(results: readonly Judged[]): Map<string, Cause> {
  const symptoms = results
    .filter(({ status, waived }) => waived === undefined && WITH_CAUSE.includes(status))
    .flatMap(({ id, findings }) => primary(findings).map((finding): Symptom => ({ check: id, finding })));
  const causes = [...groupByDeviation(symptoms)].map(([key, group]) => [key, toCause(group)] as const);
  return new Map(causes.sort(([, a], [, b]) => byWeight(a, b)));
}

/** Prerequisites of what comes after them: a truncated or garbled response says nothing about its fields. */
const LOWER: readonly ((finding: Finding) => boolean)[] = [
  isMalformed,
  ({ pointer }) => pointer === "status",
  ({ name }) => name === "HTTP-CODING",
  ({ name }) => name === "JSON-UTF8",
  ({ name }) => name === "JSON-TEXT",
  ({ name }) => name === "COMPAT-FRAMING",
];

/** The broken findings that do not follow from another one of at least the same severity about the same response. */
function primary(findings: readonly Finding[]): Finding[] {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  const lowest = new Map<string, number>();
  const keysOf = ({ weight, exchanges }: Finding) => exchanges.map((exchange) => `${weight} ${exchange}`);
  for (const finding of broken)
    for (const key of keysOf(finding))
      lowest.set(key, Math.min(depthOf(finding), lowest.get(key) ?? Number.POSITIVE_INFINITY));
  return broken.filter((finding) => {
    const depth = depthOf(finding);
    // A failure does not follow from a warning.
    const keys = keysOf(finding).concat(finding.weight === "fail" ? [] : keysOf({ ...finding, weight: "fail" }));
    return keys.every((key) => depth <= (lowest.get(key) ?? depth));
  });
}

function depthOf(finding: Finding): number {
  const depth = LOWER.findIndex((applies) => applies(finding));
  return depth === -1 ? LOWER.length : depth;
}

function toCause(symptoms: readonly Symptom[]): Cause {
  const findings = symptoms.map(({ finding }) => finding);
  const worst = typical(symptoms);
  const exchange = worst.exchanges[0];
  const checks = [...new Set(symptoms.map(({ check }) => check))];
  const facts: CauseFacts = {
    worst,
    findings,
    checks: checks.length,
    loadRuns: loadRunsOf(checks),
    isAboutPath: isAboutPath(worst),
  };
  return {
    title: causeTitle(facts),
    requirement: requirementOfCause(worst),
    requirements: [...new Set(findings.flatMap(({ requirements }) => requirements))],
    weight: findings.some(({ weight }) => weight === "fail") ? "fail" : "warn",
    checks,
    ...(exchange === undefined ? {} : { exchange }),
    advice: adviceFor(facts),
  };
}

/** A load result, with its tier or workload. */
const OF_LOAD = /^load\.([^.]+)/;

/** The load runs of results that are all of load; otherwise `undefined`. */
function loadRunsOf(checks: readonly string[]): string[] | undefined {
  const runs = new Set(checks.map((id) => OF_LOAD.exec(id)?.[1]));
  return runs.has(undefined) ? undefined : [...runs].flatMap((run) => run ?? []);
}

/**
 * The most representative finding: preferably of a valid request that was refused or truncated rather than of one with another
 * expected denial; a failing one; of the specification rather than a standard; seen by most checks; the most basic.
 */
function typical(symptoms: readonly Symptom[]): Finding {
  const checksOf = new Map<string, Set<string>>();
  for (const { check, finding } of symptoms)
    checksOf.set(mainOf(finding), (checksOf.get(mainOf(finding)) ?? new Set()).add(check));
  const isOfListAlone = isOfModelList(symptoms);
  const specific = moreSpecificThanRoot(symptoms);
  const isNamedByRoot = !isOfOneDialect(symptoms);
  const order = (finding: Finding): readonly number[] => {
    const requirement = mainOf(finding);
    return [
      specific.has(requirement) && finding.weight === "fail"
        ? 0
        : isRoot(finding) && (isNamedByRoot || !isAboutShape(finding))
          ? 1
          : 2,
      Number(!expectsSuccess(finding) && finding.pointer !== "ending" && !isAboutPath(finding)),
      Number(finding.weight !== "fail"),
      Number(finding.weight === "warn" && !expectsReply(finding)),
      Number(repeatsAnother(finding)),
      layerOf(requirement),
      // Which limit is exceeded says more than whose limit it is.
      Number(requirement === "LIMIT-1" || requirement === "LIMIT-2"),
      Number(isOfListAlone && requirement !== ("MODELS-1" satisfies RequirementId)),
      isAboutPath(finding) ? 0 : -withoutVariants(checksOf.get(requirement)).size,
      isAboutPath(finding) ? 0 : -(checksOf.get(requirement)?.size ?? 0),
      Number(isAboutWords(finding)),
      rankOf(requirement),
    ];
  };
  const ranked = symptoms.map(({ finding }) => ({ finding, rank: order(finding) }));
  return ranked.reduce((best, one) => (isBefore(one.rank, best.rank) ? one : best)).finding;
}

/**
 * Requirements that most responses of a root deviation break. They say more than the root: that HEAD has a body, rather than that
 * its response is badly framed.
 */
function moreSpecificThanRoot(symptoms: readonly Symptom[]): ReadonlySet<string> {
  const [ofRoot, others] = [true, false].map((isOfRoot) =>
    symptoms.filter(({ finding }) => isRoot(finding) === isOfRoot),
  );
  const broken = new Set((ofRoot ?? []).flatMap(({ finding }) => finding.exchanges));
  if (broken.size === 0) return new Set();
  const byRequirement = groupBy(others ?? [], ({ finding }) => mainOf(finding));
  const isCovered = (own: ReadonlySet<string>) =>
    [...broken].filter((exchange) => own.has(exchange)).length > broken.size / 2;
  return new Set(
    [...byRequirement].flatMap(([requirement, some]) =>
      isCovered(new Set(some.flatMap(({ finding }) => finding.exchanges))) ? requirement : [],
    ),
  );
}

/** JSON that lacks what makes it a reply. In one dialect alone, the requirement on its replies says more. */
const isAboutShape = ({ observed }: Finding): boolean => observed.kind === "absent";

const DIALECT_AREAS: readonly string[] = ["chat", "messages"];

const areasOf = (symptoms: readonly Symptom[]): ReadonlySet<string> =>
  new Set(symptoms.map(({ finding }) => areaOf(mainOf(finding)) ?? ""));

function isOfOneDialect(symptoms: readonly Symptom[]): boolean {
  const areas = areasOf(symptoms);
  return DIALECT_AREAS.filter((area) => areas.has(area)).length === 1;
}

/** Whether the model list is affected, and neither dialect: then it is not the base address or the key. */
function isOfModelList(symptoms: readonly Symptom[]): boolean {
  const areas = areasOf(symptoms);
  const isListed = symptoms.some(({ finding }) => mainOf(finding) === ("MODELS-1" satisfies RequirementId));
  return isListed && DIALECT_AREAS.every((area) => !areas.has(area));
}

/** The number of a check's variants says less than the number of checks. */
const withoutVariants = (checks: Iterable<string> = []): ReadonlySet<string> =>
  new Set([...checks].map((check) => check.replace(/\[.*/, "")));

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at !== -1 && (a[at] ?? 0) < (b[at] ?? 0);
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Redirected, or not found at its path: whatever was requested, the most basic requirement about the path is violated. */
function isAboutPath({ response: { status = 0, reason, ending } = {} }: Finding): boolean {
  if (ending !== undefined) return false;
  return REDIRECTS.includes(status) || (status === 404 && (reason === undefined || reason === "not_found"));
}

const expectsSuccess = ({ pointer, expected }: Finding): boolean =>
  pointer === "status" && expected?.kind === "status" && expected.range === "2xx";

/** Whether a valid request was not served, whatever the requirement says about it. */
const expectsReply = (finding: Finding): boolean => expectsSuccess(finding) || finding.expected?.kind === "reply";

/**
 * Whether another requirement says more: always for STREAM-2 (a stream is denied like any other request), and for BASE-3 if
 * there was a response.
 */
function repeatsAnother(finding: Finding): boolean {
  const requirement = mainOf(finding);
  return requirement === "STREAM-2" || (requirement === "BASE-3" && finding.pointer !== "status");
}

/** Whether a finding is about the form of a denial although the request was served: that it must be denied says more. */
const isAboutWords = (finding: Finding): boolean =>
  areaOf(mainOf(finding)) === "errors" && finding.deviation?.kind === "served";

/** The main requirement that a cause violates. */
function requirementOfCause(worst: Finding): string {
  if (isMalformed(worst)) return "HTTP-FRAMING" satisfies RequirementId;
  const { status, readAs, reason } = worst.response ?? {};
  const named = status === 401 ? "invalid_api_key" : (readAs ?? reason);
  const broken = expectsSuccess(worst) ? DENIALS.find(({ reason }) => reason === named)?.unjustified : undefined;
  return broken === undefined || areaOf(broken) === areaOf(mainOf(worst)) ? mainOf(worst) : broken;
}

const layerOf = (requirement: string): number => LAYERS.get(requirement) ?? LAYERS.size;

/** Of warnings, one of the specification says more than one of a standard or a client's need; failures of a standard are basic. */
function specificationFirst(a: Cause, b: Cause): number {
  if (a.weight !== "warn" || b.weight !== "warn") return 0;
  return Number(layerOf(a.requirement) > 0) - Number(layerOf(b.requirement) > 0);
}

function byWeight(a: Cause, b: Cause): number {
  return (
    Number(b.weight === "fail") - Number(a.weight === "fail") ||
    // A gateway that stopped explains why everything else is missing.
    Number(b.requirement === "KEEPS-RESPONDING") - Number(a.requirement === "KEEPS-RESPONDING") ||
    specificationFirst(a, b) ||
    b.checks.length - a.checks.length ||
    rankOf(a.requirement) - rankOf(b.requirement)
  );
}

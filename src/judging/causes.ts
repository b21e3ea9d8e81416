import { groupBy } from "../core/index.ts";
import type { Cause, CheckResult, Finding, Status } from "../record/index.ts";
import { REQUIREMENTS, type RequirementId } from "../requirements/index.ts";
import { inWords } from "./conclusion.ts";
import { success } from "./expectation.ts";

/** Results that have a cause, worst first. */
const WITH_CAUSE: readonly Status[] = ["fail", "flaky", "warn"];

/** The specification before the standards, and those before client needs; the more basic requirement first. */
const ORDER: readonly string[] = [
  ...REQUIREMENTS.map(({ id }) => id).filter((id) => id !== "LIMIT-1" && id !== "LIMIT-2"),
  // Whose limit it is, and its value, matter less than which limit is violated.
  "LIMIT-1",
  "LIMIT-2",
];
const AREAS: ReadonlyMap<string, string> = new Map(REQUIREMENTS.map(({ id, area }) => [id, area]));
const areaOf = (requirement: string): string | undefined => AREAS.get(requirement);
const LAYERS: ReadonlyMap<string, number> = new Map(
  REQUIREMENTS.map(({ id, layer }) => [id, ["specification", "protocol", "compat"].indexOf(layer)]),
);

/** One broken finding of one result. */
interface Symptom {
  readonly check: string;
  readonly finding: Finding;
}

/**
 * The few deviations behind many findings: the same deviation is one cause, in whatever dialect, mode, state, endpoint or
 * requirement it occurs. If the status of a response was wrong, everything else wrong with it follows from that. Failures come
 * before warnings, then what explains most checks, then the more basic requirement.
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
  const groups = groupBy(symptoms, ({ finding }) => deviationOf(finding));
  const causes = [...groups].map(([key, group]) => [key, toCause(group)] as const);
  return new Map(causes.sort(([, a], [, b]) => byWeight(a, b)));
}

/** Prerequisites of what comes after them: a truncated or garbled response says nothing about its fields. */
const LOWER: readonly ((finding: Finding) => boolean)[] = [
  ({ note }) => isMalformed(note),
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

/** Whether a response was not HTTP, according to its reader. */
function isMalformed(note = ""): boolean {
  return /protocol-error|HTTP\/1\.1 protocol|ERR_ASSERTION|HPE_/.test(note);
}

/** What two findings must have in common to be the same deviation. */
function deviationOf({ name, pointer, expected, observed, note }: Finding): string {
  // An unexpected response identifies the deviation; for an admitted one, the expected denial does.
  if (isMalformed(note)) return "malformed";
  const response = responseIn(note);
  if (response !== undefined && isUseless(response) && (pointer === "ending" || observed === "false"))
    return `response ${response}`;
  if (pointer === "status") {
    if (response?.endsWith(LATE) === true) return "refused late";
    return /^2/.test(observed) ? `served, ${refusalIn(expected)}` : `response ${response ?? observed}`;
  }
  const place = pointer?.replace(/\d+/g, "#").toLowerCase();
  // The same header or field is missing, whatever its expected value.
  if (place !== undefined && observed === "absent") return `absent ${place}`;
  // A text comparison, mostly of counts and times: the findings have the requirement in common.
  if (place === undefined) return `of ${name}`;
  // Several requirements compare the same value of the same response.
  return `at ${place} ${(expected ?? "").replace(/\d+/g, "#")} ${observed.replace(/\d+/g, "#")}`;
}

/** The expected denial; the specification leaves the status of caller errors open. */
function refusalIn(expected = ""): string {
  return /^\d{3}(?=$| or )/.exec(expected)?.[0] ?? "a refusal";
}

/** Suffix of the short form of a response that refused a stream after it had begun. */
const LATE = ", then error-event";

/** `401 invalid_api_key` or `200, then reset`: a response in short form, at the end of a note. */
function responseIn(note: string | undefined): string | undefined {
  return /\b\d{3}(?: [\w.-]+|, then [\w-]+)?(?=$|: UND_ERR)/.exec(note ?? "")?.[0];
}

/** Whether a response in short form is not a complete reply. */
const isUseless = (response: string): boolean => !response.startsWith("2") || response.includes(", then ");

function toCause(symptoms: readonly Symptom[]): Cause {
  const findings = symptoms.map(({ finding }) => finding);
  const worst = typical(symptoms);
  const exchange = worst.exchanges[0];
  const checks = [...new Set(symptoms.map(({ check }) => check))];
  return {
    title: titleOf(worst, { findings, checks }),
    requirement: requirementOfCause(worst),
    requirements: [...new Set(findings.flatMap(({ requirements }) => requirements))],
    weight: findings.some(({ weight }) => weight === "fail") ? "fail" : "warn",
    checks,
    ...(exchange === undefined ? {} : { exchange }),
    advice: adviceFor(worst),
  };
}

/**
 * The most representative finding: preferably of a valid request that was refused or truncated rather than of one with another
 * expected denial; a failing one; of the specification rather than a standard; seen by most checks; the most basic.
 */
function typical(symptoms: readonly Symptom[]): Finding {
  const checksOf = new Map<string, Set<string>>();
  for (const { check, finding } of symptoms)
    checksOf.set(mainOf(finding), (checksOf.get(mainOf(finding)) ?? new Set()).add(check));
  const order = (finding: Finding): readonly number[] => {
    const requirement = mainOf(finding);
    return [
      Number(!expectsSuccess(finding) && finding.pointer !== "ending" && !isAboutPath(finding)),
      Number(finding.weight !== "fail"),
      Number(repeatsAnother(finding)),
      LAYERS.get(requirement) ?? LAYERS.size,
      isAboutPath(finding) ? 0 : -(checksOf.get(requirement)?.size ?? 0),
      Number(isAboutWords(finding)),
      ORDER.indexOf(requirement),
    ];
  };
  const ranked = symptoms.map(({ finding }) => ({ finding, rank: order(finding) }));
  return ranked.reduce((best, one) => (isBefore(one.rank, best.rank) ? one : best)).finding;
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at !== -1 && (a[at] ?? 0) < (b[at] ?? 0);
}

/** Redirected, or not found at its path: whatever was requested, the most basic requirement about the path is violated. */
const isAboutPath = ({ note }: Finding): boolean => /^(3\d\d|404( not_found)?)$/.test(responseIn(note) ?? "");

const mainOf = ({ name, requirements }: Finding): string => requirements[0] ?? name;

const expectsSuccess = ({ pointer, expected }: Finding): boolean =>
  pointer === "status" && expected?.startsWith(success.description) === true;

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
  areaOf(mainOf(finding)) === "errors" && finding.observed.startsWith("2");

/** For each denial, the requirement that it violates if it is unjustified. */
const WITHOUT_GROUND: Readonly<Record<string, RequirementId>> = {
  invalid_api_key: "AUTH-1",
  key_revoked: "AUTH-1",
  insufficient_credits: "SPEND-13",
  quota_exceeded: "SPEND-13",
  budget_exhausted: "SPEND-13",
  model_not_found: "MODELS-4",
  rate_limit_exceeded: "LIMIT-RATE-3",
  concurrency_limit_exceeded: "LIMIT-CONC-2",
};

/** The main requirement that a cause violates. */
function requirementOfCause(worst: Finding): string {
  if (isMalformed(worst.note)) return "HTTP-FRAMING" satisfies RequirementId;
  const [status, reason = ""] = (responseIn(worst.note) ?? "").split(" ");
  const broken = expectsSuccess(worst) ? WITHOUT_GROUND[status === "401" ? "invalid_api_key" : reason] : undefined;
  return broken === undefined || areaOf(broken) === areaOf(mainOf(worst)) ? mainOf(worst) : broken;
}

/** Maximum number of expectations in a title. */
const MAX_NAMED = 3;

/** A load result, with its tier or workload. */
const OF_LOAD = /^load\.([^.]+)/;

/** The defect of a malformed response, in its summary. */
const MALFORMED = /protocol-error: (.+?\(.+?\)|[^()]+)/;

function titleOf(
  worst: Finding,
  { findings, checks }: { readonly findings: readonly Finding[]; readonly checks: readonly string[] },
): string {
  const { pointer, observed } = worst;
  const malformed = MALFORMED.exec(worst.note ?? "")?.[1];
  if (malformed !== undefined) return `malformed HTTP: ${malformed}`;
  const runs = [...new Set(checks.map((id) => OF_LOAD.exec(id)?.[1]))];
  // The finding itself holds the other counts of the phase.
  if (pointer === undefined && !runs.includes(undefined))
    return `${runs.join(", ")}: expected ${worst.expected ?? "otherwise"}, got ${observed.split("; ")[0]}`;
  const response = responseIn(worst.note);
  if (pointer === "status" && response !== undefined) return `expected ${worst.expected}, got ${response}`;
  const expected = [...new Set(findings.map((finding) => finding.expected ?? "a value"))];
  if (pointer === undefined || observed !== "absent" || expected.length === 1) return inWords(worst);
  const more = expected.length > MAX_NAMED ? ` and ${expected.length - MAX_NAMED} more` : "";
  return `${pointer} is absent: expected ${expected.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/** What to do, as far as the deviation shows. */
function adviceFor(finding: Finding): string {
  const { pointer, observed, weight } = finding;
  if (isMalformed(finding.note))
    return "Fix what the gateway, or the proxy in front of it, sends: clients reject such a response, or read it in different ways.";
  if (expectsSuccess(finding) && isAboutPath(finding))
    return "Serve these requests at their path. If the gateway does not offer this dialect at all, declare in the target file which dialects it does offer, for example dialects: [chat].";
  if (pointer === "status" && responseIn(finding.note)?.endsWith(LATE) === true)
    return "These streams are refused, but too late to have a status. Send the response headers only when the first chunk is ready: until then, a refusal or an upstream failure can still set the status.";
  if (pointer === "status" && observed.startsWith("2"))
    return "Refuse these requests. Compare the exchange with its control request, which is correctly served: what differs between them is the ground for refusing.";
  if (pointer === "reason")
    return `${observed === "absent" ? "Name" : "Correct"} the reason of these denials. If the gateway names it in its own words or in another place, declare that under contract; gauntlet doctor --propose writes the lines.`;
  if (pointer === "status" && weight === "fail")
    return "Compare the exchange with its control request: what differs between them decides the status. If the status stands for the expected denial, declare it under contract.denials.";
  return "Compare what was recorded with what was expected, correct it, and run the first of these checks again by itself.";
}

function byWeight(a: Cause, b: Cause): number {
  return (
    Number(b.weight === "fail") - Number(a.weight === "fail") ||
    b.checks.length - a.checks.length ||
    ORDER.indexOf(a.requirement) - ORDER.indexOf(b.requirement)
  );
}

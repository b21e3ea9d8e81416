import type { Cause, CheckResult, Finding } from "../record/index.ts";
import { REQUIREMENTS, type RequirementId } from "../requirements/index.ts";
import { inWords } from "./conclusion.ts";
import { success } from "./expectation.ts";

/** Results that have a cause, worst first. */
const WITH_CAUSE = ["fail", "flaky", "warn"] as const;

/** The specification before the standards, and these before the needs of clients; the more basic requirement first. */
const ORDER: readonly string[] = REQUIREMENTS.map(({ id }) => id);

/** One broken finding of one result. */
interface Symptom {
  readonly check: string;
  readonly finding: Finding;
}

/**
 * The few deviations behind many findings: the same deviation is one cause, whichever dialect, mode, state, endpoint or requirement it
 * was seen in. Where the status of a response was wrong, whatever else was wrong with that response follows from it. Failures come
 * before warnings, then what explains most checks, then the more basic requirement.
 *
 * @param results of a run; waived ones have no cause to be named.
 */
export function causesOf(results: readonly Pick<CheckResult, "id" | "status" | "findings" | "waived">[]): Cause[] {
  const groups = new Map<string, Symptom[]>();
  for (const { id, status, findings, waived } of results) {
    if (waived !== undefined || !WITH_CAUSE.some((word) => word === status)) continue;
    for (const finding of primary(findings)) {
      const key = deviationOf(finding);
      groups.set(key, [...(groups.get(key) ?? []), { check: id, finding }]);
    }
  }
  return [...groups.values()].map(toCause).sort(byWeight);
}

/** The broken findings that do not follow from another one about the same response. */
function primary(findings: readonly Finding[]): Finding[] {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  const wrongStatus = new Set(
    broken.filter(({ pointer }) => pointer === "status").flatMap(({ exchanges }) => exchanges),
  );
  return broken.filter(
    ({ pointer, exchanges }) => pointer === "status" || !exchanges.some((exchange) => wrongStatus.has(exchange)),
  );
}

/** What two findings must have in common to be the same deviation. */
function deviationOf({ name, pointer, expected, observed, note }: Finding): string {
  // A response that should not have come says what it is itself; one that was admitted says nothing of what it should have been.
  if (pointer === "status") {
    return /^2/.test(observed) ? `status ${name} ${expected}` : `status ${responseIn(note) ?? observed}`;
  }
  const place = pointer?.replace(/\d+/g, "#").toLowerCase();
  // The same header or field is missing, whatever it should have held.
  if (place !== undefined && observed === "absent") return `absent ${place}`;
  const wanted = (expected ?? "").replace(/\d+/g, "#");
  // The same value of the same response is compared for several requirements.
  return place === undefined ? `of ${name} ${wanted}` : `at ${place} ${wanted} ${observed.replace(/\d+/g, "#")}`;
}

/** `401 invalid_api_key`: a response in short, at the end of a note. */
function responseIn(note: string | undefined): string | undefined {
  return /\b\d{3}(?: [\w.-]+)?$/.exec(note ?? "")?.[0];
}

function toCause(symptoms: readonly Symptom[]): Cause {
  const findings = symptoms.map(({ finding }) => finding);
  const worst = typical(findings);
  const exchange = worst.exchanges[0];
  const checks = [...new Set(symptoms.map(({ check }) => check))];
  return {
    title: titleOf(worst, { findings, checks }),
    requirement: requirementOfCause(worst, findings),
    requirements: [...new Set(findings.flatMap(({ requirements }) => requirements))],
    weight: worst.weight === "fail" ? "fail" : "warn",
    checks,
    ...(exchange === undefined ? {} : { exchange }),
    advice: adviceFor(worst),
  };
}

/** The finding that stands for all: a failing one, and of these one about the most basic requirement. */
function typical(findings: readonly Finding[]): Finding {
  const failing = findings.filter(({ weight }) => weight === "fail");
  return (failing.length > 0 ? failing : findings).reduce((best, finding) =>
    rankOf(finding) < rankOf(best) ? finding : best,
  );
}

const mainOf = ({ name, requirements }: Finding): string => requirements[0] ?? name;

/**
 * Basic requirements come first, those last that only repeat what another one says of the same response: that a stream is denied as
 * any other request is, and, of a reply that came, that one comes.
 */
function rankOf(finding: Finding): number {
  const requirement = mainOf(finding);
  const repeats = requirement === "STREAM-2" || (requirement === "BASE-3" && finding.pointer !== "status");
  return ORDER.indexOf(requirement) + (repeats ? ORDER.length : 0);
}

/** What says that a denial must not come where none is due, by its reason. */
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

/** The requirement that a cause breaks first. */
function requirementOfCause(worst: Finding, findings: readonly Finding[]): string {
  const [status, reason = ""] = (responseIn(worst.note) ?? "").split(" ");
  const isDenial = worst.pointer === "status" && findings.some(({ expected }) => expected === success.description);
  const broken = isDenial ? WITHOUT_GROUND[status === "401" ? "invalid_api_key" : reason] : undefined;
  return broken ?? mainOf(worst);
}

/** Most expectations that a title names. */
const MOST_NAMED = 3;

/** A result of load and the tier or workload that it is about. */
const OF_LOAD = /^load\.([^.]+)/;

function titleOf(
  worst: Finding,
  { findings, checks }: { readonly findings: readonly Finding[]; readonly checks: readonly string[] },
): string {
  const { pointer, observed } = worst;
  const runs = [...new Set(checks.map((id) => OF_LOAD.exec(id)?.[1]))];
  // What else was counted in the phase stands in the finding itself.
  if (pointer === undefined && !runs.includes(undefined))
    return `${runs.join(", ")}: expected ${worst.expected ?? "otherwise"}, got ${observed.split("; ")[0]}`;
  const response = responseIn(worst.note);
  if (pointer === "status" && response !== undefined) return `expected ${worst.expected}, got ${response}`;
  const expected = [...new Set(findings.map((finding) => finding.expected ?? "a value"))];
  if (pointer === undefined || observed !== "absent" || expected.length === 1) return inWords(worst);
  const more = expected.length > MOST_NAMED ? ` and ${expected.length - MOST_NAMED} more` : "";
  return `${pointer} is absent: expected ${expected.slice(0, MOST_NAMED).join(", ")}${more}`;
}

/** What to do, as far as the deviation tells. */
function adviceFor({ pointer, observed, weight }: Finding): string {
  if (pointer === "reason")
    return `${observed === "absent" ? "Name" : "Correct"} the reason of these denials. If the gateway names it in its own words or in another place, declare that under contract; gauntlet doctor --propose writes the lines.`;
  if (pointer === "status" && weight === "fail" && !observed.startsWith("2"))
    return "Compare the exchange with its control request: what differs between them decides the status. If the status stands for the expected denial, declare it under contract.denials.";
  return "Compare the exchange with what was expected, mend the gateway, and run the first of these checks alone.";
}

function byWeight(a: Cause, b: Cause): number {
  return (
    Number(b.weight === "fail") - Number(a.weight === "fail") ||
    b.checks.length - a.checks.length ||
    ORDER.indexOf(a.requirement) - ORDER.indexOf(b.requirement)
  );
}

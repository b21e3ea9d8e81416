import { groupBy } from "../core/index.ts";
import type { Deviation, Expected, Finding, ResponseFacts } from "../record/index.ts";

/** One broken finding of one result. */
export interface Symptom {
  readonly check: string;
  readonly finding: Finding;
}

/** The main requirement of a finding. */
export const mainOf = ({ name, requirements }: Finding): string => requirements[0] ?? name;

/**
 * Requirements on every response, the most basic first. If a response violates one of them, everything else that any check found
 * wrong with it belongs to the same cause.
 */
const ROOTS: readonly string[] = ["HTTP-FRAMING", "HTTP-CODING", "JSON-UTF8", "JSON-TEXT", "ERR-200-1"];

/**
 * Whether a finding explains everything else that is wrong with the same responses. A refusal or an early end does not: the
 * requirements on streams and replies are more specific.
 */
export function isRoot(finding: Finding): boolean {
  const { weight, expected, deviation, response } = finding;
  if (weight !== "fail" || !ROOTS.includes(mainOf(finding)) || expected?.kind === "reply") return false;
  if (response?.ending !== undefined && deviation?.kind !== "malformed") return false;
  return deviation?.kind === "malformed" || !OF_RESPONSE.includes(deviation?.kind ?? "content");
}

/** Groups symptoms by their deviation, or by the root that explains them. The keys are opaque. */
export function groupByDeviation(symptoms: readonly Symptom[]): Map<string, [Symptom, ...Symptom[]]> {
  const keys = new DisjointKeys();
  const rootOf = new Map<string, string>();
  const rootOfAll = ({ exchanges: [first = "", ...more] }: Finding): string | undefined =>
    more.every((exchange) => rootOf.has(exchange)) ? rootOf.get(first) : undefined;
  for (const root of ROOTS)
    for (const { finding } of symptoms) {
      if (!isRoot(finding) || mainOf(finding) !== root) continue;
      const known = rootOfAll(finding);
      const key = deviationKey(finding);
      if (known !== undefined) keys.union(key, known);
      for (const exchange of finding.exchanges) if (!rootOf.has(exchange)) rootOf.set(exchange, key);
    }
  uniteClaims(symptoms, keys);
  return groupBy(symptoms, ({ finding }) => keys.find(rootOfAll(finding) ?? deviationKey(finding)));
}

/**
 * Claims of one check about the same exchanges are one deviation, whichever requirements they are about: a request beyond the
 * limit that is served breaks several.
 */
function uniteClaims(symptoms: readonly Symptom[], keys: DisjointKeys): void {
  const byPlace = new Map<string, string>();
  for (const { check, finding } of symptoms) {
    const key = deviationKey(finding);
    if (finding.exchanges.length === 0 || key !== claimKey(finding)) continue;
    const place = `${check} ${finding.exchanges.join(" ")}`;
    const known = byPlace.get(place);
    if (known === undefined) byPlace.set(place, key);
    else keys.union(key, known);
  }
}

/** Keys that stand for the same deviation. */
class DisjointKeys {
  readonly #parents = new Map<string, string>();

  find(key: string): string {
    const parent = this.#parents.get(key);
    return parent === undefined ? key : this.find(parent);
  }

  union(key: string, known: string): void {
    const [child, parent] = [this.find(key), this.find(known)];
    if (child !== parent) this.#parents.set(child, parent);
  }
}

/** The key of counts, times and claims: the findings have the requirement in common. */
const claimKey = ({ name }: Finding): string => `of ${name}`;

/** Whether a response was not HTTP. */
export function isMalformed({ deviation }: Finding): boolean {
  return deviation?.kind === "malformed";
}

/** Deviations of a response as a whole: whatever it lacks follows from them. */
const OF_RESPONSE: readonly Deviation["kind"][] = ["malformed", "no-response", "incomplete", "refused-late", "status"];

/** What two findings must have in common to be the same deviation. */
function deviationKey(finding: Finding): string {
  const { pointer, expected, observed, response = {}, deviation } = finding;
  if (deviation === undefined) return claimKey(finding);
  // An unexpected response identifies the deviation; for an admitted one, the expected denial does.
  if (deviation.kind === "malformed" || deviation.kind === "refused-late") return deviation.kind;
  if (OF_RESPONSE.includes(deviation.kind)) return `response ${responseKey(response, observed)}`;
  if (deviation.kind === "served") return `served, ${expectedDenial(expected)}`;
  const place = pointer?.replace(/\d+/g, "#").toLowerCase();
  // The same header or field is missing, whatever its expected value.
  if (place !== undefined && observed.kind === "absent") return `absent ${place}`;
  if (place === undefined) return claimKey(finding);
  // Several requirements compare the same value of the same response, each with its own expectation.
  return `at ${place} ${JSON.stringify(observed).replace(/\d+/g, "#")}`;
}

/** A response without what differs from request to request. */
function responseKey({ status, reason, ending }: ResponseFacts, observed: Finding["observed"]): string {
  const code = status ?? (observed.kind === "value" ? observed.value : "none");
  return `${code} ${reason ?? ""} ${ending?.kind ?? ""}`;
}

/** The expected denial; the specification leaves the status of caller errors open. */
function expectedDenial(expected: Expected | undefined): string {
  if (expected?.kind === "value") return String(expected.value);
  return expected?.kind === "one-of" ? String(expected.values[0]) : "a refusal";
}

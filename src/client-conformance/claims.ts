import type { Finding, Status } from "../record/index.ts";
import { type RequirementId, requirementOf } from "../requirements/index.ts";
import type { Attempt } from "./observation.ts";

interface Seen {
  readonly in?: Attempt | undefined;
  readonly because?: string;
}

/** Collects what a scenario says about a client. */
export class Claims {
  readonly findings: Finding[] = [];
  #open: { readonly status: Status; readonly message: string } | undefined;

  /** A demand: breaking it fails the scenario. */
  demand(requirement: RequirementId, met: boolean, expected: string, observed: string, seen: Seen = {}): void {
    this.#add(requirement, met ? "met" : "broken", "fail", expected, observed, seen);
  }

  /** What a requirement asks for only in part of the cases, and this may be one: breaking it warns. */
  advise(requirement: RequirementId, met: boolean, expected: string, observed: string, seen: Seen = {}): void {
    this.#add(requirement, met ? "met" : "broken", "warn", expected, observed, seen);
  }

  /** A fact. Decides nothing. */
  observe(requirement: RequirementId, observed: string, seen: Seen = {}): void {
    this.#add(requirement, "observed", "none", undefined, observed, seen);
  }

  /** What could not be decided; counts unless something is broken. The first one is told. */
  open(status: "blocked" | "inconclusive" | "not-applicable", message: string): void {
    this.#open ??= { status, message };
  }

  get broken(): readonly Finding[] {
    const found = this.findings.filter(({ outcome }) => outcome === "broken");
    return found.sort((a, b) => Number(b.weight === "fail") - Number(a.weight === "fail"));
  }

  /** What was found right, each once. */
  get met(): readonly string[] {
    const met = this.findings.filter(({ outcome }) => outcome === "met");
    return [...new Set(met.map(({ observed }) => observed))];
  }

  /** What the findings come to, and the sentence that says it. `timeline` is what is said when nothing is wrong. */
  conclude(timeline: string): { readonly status: Status; readonly message: string } {
    const [worst, ...others] = this.broken;
    if (worst?.weight === "fail" || (worst !== undefined && this.#open === undefined)) {
      const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
      const note = worst.note === undefined ? "" : `${worst.note}: `;
      const message = `${note}expected ${worst.expected ?? "otherwise"}, got ${worst.observed}${more}`;
      return { status: worst.weight === "fail" ? "fail" : "warn", message };
    }
    if (this.#open !== undefined) return this.#open;
    if (this.findings.some(({ outcome }) => outcome === "met")) return { status: "pass", message: timeline };
    const seen = this.findings.map(({ observed }) => observed).join("; ");
    return { status: "observed", message: seen === "" ? timeline : seen };
  }

  #add(
    requirement: RequirementId,
    outcome: Finding["outcome"],
    weight: Finding["weight"],
    expected: string | undefined,
    observed: string,
    { in: attempt, because }: Seen,
  ): void {
    const { id, level, layer } = requirementOf(requirement);
    this.findings.push({
      requirement: id,
      level,
      layer,
      outcome,
      weight,
      ...(expected === undefined ? {} : { expected }),
      observed,
      ...(attempt === undefined ? {} : { exchange: attempt.id }),
      ...(because === undefined ? {} : { note: because }),
    });
  }
}

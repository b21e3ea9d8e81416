import type { Finding, Status } from "../record/index.ts";
import {
  type CompatRequirement,
  type MustRequirement,
  type Requirement,
  type RequirementId,
  requirementOf,
  type ShouldRequirement,
} from "../requirements/index.ts";
import { show, toExpectation } from "./expectation.ts";
import type { Response } from "./response.ts";

/** Where something was seen, for the evidence. */
export interface Seen {
  readonly in?: Response | undefined;
  /** `status`, a header name, or a JSON pointer. */
  readonly at?: string | undefined;
  readonly because?: string | undefined;
}

/** Ends a judgement that cannot go on; caught by `judge`. */
export class Undecided extends Error {
  readonly status: "blocked" | "inconclusive" | "not-applicable";
  /** Lines of the target file that would let it go on. */
  readonly unblock: readonly string[];

  constructor(status: Undecided["status"], message: string, unblock: readonly string[] = []) {
    super(message);
    this.status = status;
    this.unblock = unblock;
  }
}

/**
 * Collects what a judge says. Which method is open to a requirement follows from its level: `must` takes MUST requirements, `should`
 * anything stated, `compat` the requirements of real clients, and an OPEN requirement compiles with `observe` alone.
 */
export class Verdict {
  readonly findings: Finding[] = [];

  /** A demand: breaking it fails the check. `expected` is a value to be equal to, or an expectation. */
  must(requirement: MustRequirement, observed: unknown, expected: unknown, seen: Seen = {}): boolean {
    return this.#claim(requirementOf(requirement), "fail", observed, expected, seen);
  }

  /** An advice: breaking it warns. */
  should(requirement: ShouldRequirement, observed: unknown, expected: unknown, seen: Seen = {}): boolean {
    return this.#claim(requirementOf(requirement), "warn", observed, expected, seen);
  }

  /** What real clients need beyond the specification: a miss warns, and gates only by policy. */
  compat(requirement: CompatRequirement, observed: unknown, expected: unknown, seen: Seen = {}): boolean {
    return this.#claim(requirementOf(requirement), "warn", observed, expected, seen);
  }

  /** A fact. Decides nothing. */
  observe(requirement: RequirementId, observed: unknown, seen: Seen = {}): void {
    this.findings.push(finding(requirementOf(requirement), "observed", "none", undefined, observed, seen));
  }

  /** A condition without which the check would say nothing true: its absence blocks the check and never passes it. */
  assume(condition: boolean, what: string): void {
    if (!condition) throw new Undecided("blocked", `not so: ${what}`);
  }

  /** What the check was given does not do, and something else in the target file would. */
  notSupplied(why: string, unblock: readonly string[]): never {
    throw new Undecided("blocked", why, unblock);
  }

  /** The control request of a negative probe: the same request with nothing wrong about it must have been served. */
  assumeGood(control: Response, what = "the same request with nothing wrong"): void {
    if (control.admitted) return;
    const ambient = isAmbient(control);
    throw new Undecided(ambient ? "inconclusive" : "blocked", `${what} was not served: ${control.summary}`);
  }

  inconclusive(why: string): never {
    throw new Undecided("inconclusive", why);
  }

  notApplicable(why: string): never {
    throw new Undecided("not-applicable", why);
  }

  #claim(requirement: Requirement, weight: "fail" | "warn", observed: unknown, expected: unknown, seen: Seen): boolean {
    const { description, test } = toExpectation(expected);
    const met = test(observed);
    this.findings.push(finding(requirement, met ? "met" : "broken", weight, description, observed, seen));
    return met;
  }

  /** What the findings come to. */
  get status(): Status {
    const broken = this.findings.filter(({ outcome }) => outcome === "broken");
    if (broken.some(({ weight }) => weight === "fail")) return "fail";
    if (broken.length > 0) return "warn";
    return this.findings.some(({ outcome }) => outcome === "met") ? "pass" : "observed";
  }
}

/** Trouble that is not about the request: another client's traffic, a provider's hiccup, the network. */
export function isAmbient(answer: Response): boolean {
  const { status } = answer;
  if (status === undefined || !answer.complete) return true;
  return status >= 500 || answer.reason === "rate_limit_exceeded" || answer.reason === "concurrency_limit_exceeded";
}

function finding(
  { id, level, layer }: Requirement,
  outcome: Finding["outcome"],
  weight: Finding["weight"],
  expected: string | undefined,
  observed: unknown,
  { in: answer, at, because }: Seen,
): Finding {
  return {
    requirement: id,
    level,
    layer,
    outcome,
    weight,
    ...(expected === undefined ? {} : { expected }),
    observed: show(observed),
    ...(at === undefined ? {} : { pointer: at }),
    ...(answer === undefined ? {} : { exchange: answer.id }),
    ...(because === undefined ? {} : { note: because }),
  };
}

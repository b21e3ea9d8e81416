import { InternalError } from "../core/index.ts";
import type { Finding } from "../record/index.ts";
import {
  type CompatRequirement,
  isMust,
  type MustRequirement,
  type RequirementId,
  type ShouldRequirement,
} from "../requirements/index.ts";
import { type Conclusion, conclusionOf } from "./conclusion.ts";
import { type EvidenceResponse, isRefusedLate, missingEvidence } from "./evidence.ts";
import { type Expectation, show, toExpectation } from "./expectation.ts";

/** Where something was observed, for the evidence. */
export interface Seen {
  /** The exchange. */
  readonly in?: EvidenceResponse | undefined;
  /** `status`, a header name, or a JSON pointer. */
  readonly at?: string | undefined;
  readonly because?: string | undefined;
}

/** The parts of a response that a control request needs. */
interface ControlResponse {
  readonly admitted: boolean;
  readonly summary: string;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly complete: boolean;
}

/** Ends a judgement that cannot continue; caught by the caller of the judge. */
export class Undecided extends Error {
  readonly status: "blocked" | "inconclusive" | "not-applicable";
  /** Lines of the target file that would let it continue. */
  readonly unblock: readonly string[];

  constructor(status: Undecided["status"], message: string, unblock: readonly string[] = []) {
    super(message);
    this.status = status;
    this.unblock = unblock;
  }
}

/**
 * Collects the findings of a judge. The level of a requirement determines which methods accept it: `must` takes MUST
 * requirements, `should` those of SHOULD and MAY, `compat` the requirements of real clients, and an OPEN requirement compiles
 * with `observe` alone. A judge that cannot prove that a MUST is violated calls `markUndecided` or `inconclusive`: a MUST never
 * warns.
 */
export class Verdict {
  readonly findings: Finding[] = [];
  /** Comparisons that were met, by key. */
  readonly #met = new Map<string, Finding>();
  #open: Pick<Undecided, "status" | "message"> | undefined;

  /** A violation fails the check. `expected` is a value for equality, or an expectation. */
  must<T>(requirement: MustRequirement, observed: T, expected: NoInfer<T> | Expectation<T>, seen: Seen = {}): boolean {
    return this.#compare(requirement, "fail", observed, expected, seen);
  }

  /** A violation warns. */
  should<T>(
    requirement: ShouldRequirement,
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen = {},
  ): boolean {
    return this.#compare(requirement, "warn", observed, expected, seen);
  }

  /** What real clients need beyond the specification: a miss warns, and gates only by policy. */
  compat<T>(
    requirement: CompatRequirement,
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen = {},
  ): boolean {
    return this.#compare(requirement, "warn", observed, expected, seen);
  }

  /** A comparison made by the judge itself: a miss fails. */
  mustHold(requirement: MustRequirement, met: boolean, expected: string, observed: string, seen: Seen = {}): void {
    this.#add(requirement, met ? "met" : "broken", "fail", expected, observed, seen);
  }

  /** A comparison made by the judge itself: a miss warns. */
  shouldHold(requirement: ShouldRequirement, met: boolean, expected: string, observed: string, seen: Seen = {}): void {
    this.#add(requirement, met ? "met" : "broken", "warn", expected, observed, seen);
  }

  /** An observation as text. Decides nothing. */
  note(requirement: RequirementId, observed: string, seen: Seen = {}): void {
    this.#add(requirement, "observed", "none", undefined, observed, seen);
  }

  /** Decides nothing. */
  observe(requirement: RequirementId, observed: unknown, seen: Seen = {}): void {
    this.#add(requirement, "observed", "none", undefined, show(observed), seen);
  }

  /** A condition without which the check would say nothing true: if it does not hold, the check is blocked and never passes. */
  assume(condition: boolean, what: string): void {
    if (!condition) throw new Undecided("blocked", `precondition not met: ${what}`);
  }

  /** The given fixture does not suffice, and something else in the target file would. */
  missingFixture(why: string, unblock: readonly string[]): never {
    throw new Undecided("blocked", why, unblock);
  }

  /** The control request of a negative probe: the same request with nothing wrong must have been served. */
  assumeGood(control: ControlResponse, what = "the same request with nothing wrong"): void {
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

  /** Notes that something could not be decided, and continues; the first note counts, unless something is violated. */
  markUndecided(status: Undecided["status"], message: string): void {
    this.#open ??= { status, message };
  }

  /** What `markUndecided` noted first. */
  get open(): string | undefined {
    return this.#open?.message;
  }

  /** Broken findings, failures first. */
  get broken(): readonly Finding[] {
    const found = this.findings.filter(({ outcome }) => outcome === "broken");
    return found.sort((a, b) => Number(b.weight === "fail") - Number(a.weight === "fail"));
  }

  conclude(): Conclusion {
    return conclusionOf(this.findings, this.#open);
  }

  #compare<T>(
    requirement: RequirementId,
    weight: "fail" | "warn",
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen,
  ): boolean {
    const { description, test, magnitude } = toExpectation<T>(expected);
    const met = test(observed);
    const missing = seen.in && missingEvidence(seen.in, { requirement, at: seen.at, expected, isMet: met });
    if (missing !== undefined) {
      this.#add(requirement, "undecided", weight, description, missing, seen);
      return false;
    }
    if (!met && seen.in !== undefined && isRefusedLate(seen.in, { at: seen.at, test })) {
      this.#add(requirement, "observed", "none", undefined, "refused after the stream had begun", seen);
      return false;
    }
    const kind = JSON.stringify([requirement, weight, description, seen.at]);
    const known = met ? this.#met.get(kind) : undefined;
    // A judge of all responses compares ten thousand times, and its findings would be most of the record.
    if (known !== undefined) {
      known.count = (known.count ?? 1) + 1;
      return true;
    }
    this.#add(requirement, met ? "met" : "broken", weight, description, show(observed), seen);
    const added = this.findings.at(-1);
    if (met && added !== undefined) this.#met.set(kind, added);
    const missedBy = met ? undefined : magnitude?.(observed);
    if (missedBy !== undefined && added !== undefined) added.magnitude = missedBy;
    return met;
  }

  #add(
    requirement: RequirementId,
    outcome: Finding["outcome"],
    weight: Finding["weight"],
    expected: string | undefined,
    observed: string,
    { in: response, at, because }: Seen,
  ): void {
    if (outcome === "broken" && weight === "warn") assertNotMust(requirement);
    this.findings.push({
      name: requirement,
      requirements: [requirement],
      outcome,
      weight,
      ...(expected === undefined ? {} : { expected }),
      observed,
      ...(at === undefined ? {} : { pointer: at }),
      exchanges: response === undefined ? [] : [response.id],
      ...(because === undefined ? {} : { note: because }),
    });
  }
}

/** Types can be cast away, so it is also checked at run time that a MUST never warns. */
function assertNotMust(requirement: RequirementId): void {
  if (isMust(requirement))
    throw new InternalError(`${requirement} is a MUST: a violation fails or is inconclusive, but never warns`);
}

/** A problem unrelated to the request: another client's traffic, an upstream failure, the network. */
export function isAmbient({
  status,
  complete,
  reason,
}: Pick<ControlResponse, "status" | "complete" | "reason">): boolean {
  if (status === undefined || !complete) return true;
  return status >= 500 || reason === "rate_limit_exceeded" || reason === "concurrency_limit_exceeded";
}

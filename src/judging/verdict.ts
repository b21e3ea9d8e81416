import { describeUndecided } from "../../reports/text/index.ts";
import { isLimitReason } from "../dialects/index.ts";
import type { Finding, ResponseFacts, UndecidedReason } from "../record/index.ts";
import type {
  CompatRequirement,
  CustomRequirement,
  MustRequirement,
  RequirementId,
  ShouldRequirement,
} from "../requirements/index.ts";
import { type Conclusion, conclusionOf } from "./conclusion.ts";
import { type EvidenceResponse, isRefusedLate, missingEvidence } from "./evidence.ts";
import { type Expectation, toExpectation, toObserved } from "./expectation.ts";
import { type FindingFacts, finding } from "./finding.ts";

/** Where something was observed, for the evidence. */
export interface Seen {
  /** The exchange. */
  readonly in?: EvidenceResponse | undefined;
  /** Further exchanges with the same deviation. */
  readonly also?: readonly EvidenceResponse[];
  /** `status`, `ending`, `reason`, a header name, or a JSON pointer. */
  readonly at?: string | undefined;
  /** What was compared, if neither the requirement nor the place says it. */
  readonly because?: string | undefined;
}

/** The parts of a response that a control request needs. */
interface ControlResponse {
  readonly id?: string;
  readonly admitted: boolean;
  readonly facts?: ResponseFacts;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly complete: boolean;
}

/** Maximum number of further exchanges in a finding. */
const MAX_ALSO = 200;

/** What prevented a judge from deciding more. */
type OpenQuestion = Pick<Undecided, "status" | "message" | "reason">;

/** Ends a judgement that cannot continue; caught by the caller of the judge. */
export class Undecided extends Error {
  readonly status: "blocked" | "inconclusive" | "not-applicable";
  readonly reason: UndecidedReason;
  /** Lines of the target file that would let it continue. */
  readonly unblock: readonly string[];

  /** @param reason as data, or in words if no kind of reason fits. */
  constructor(status: Undecided["status"], reason: UndecidedReason | string, unblock: readonly string[] = []) {
    const known: UndecidedReason = typeof reason === "string" ? { kind: "open", text: reason } : reason;
    super(describeUndecided(known));
    this.status = status;
    this.reason = known;
    this.unblock = unblock;
  }
}

/** Which method of a verdict compares, and what about. */
interface ComparisonContext {
  readonly method: "must" | "should" | "compat";
  readonly requirement: string;
  readonly seen: Seen;
}

/** Maximum number of equal deviations in one response that are recorded. */
const MAX_ALIKE = 100;

/** Called before a judge compares or observes; throws if the judge itself is wrong. */
export interface JudgeGuard {
  compare(method: "must" | "should" | "compat", requirement: string, values: ComparedValues): void;
  observe(requirement: string): void;
}

export interface ComparedValues {
  readonly observed: unknown;
  /** As the judge gave it: a value, or an expectation. */
  readonly expected: unknown;
  /** Whether the observed value meets it. */
  readonly isMet: boolean;
  readonly seen: Seen;
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
  /** How often the same deviation was found in the same response. */
  readonly #broken = new Map<string, number>();
  /** The control request that was served last. */
  #control: string | undefined;
  #open: OpenQuestion | undefined;
  readonly #guard: JudgeGuard | undefined;

  /** @param guard for judges that were not type-checked: those of custom suites. */
  constructor(guard?: JudgeGuard) {
    this.#guard = guard;
  }

  /** A violation fails the check. `expected` is a value for equality, or an expectation. */
  must<T>(
    requirement: MustRequirement | CustomRequirement<"MUST">,
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen = {},
  ): boolean {
    return this.#compare({ method: "must", requirement: idOf(requirement), seen }, observed, expected);
  }

  /** A violation warns. */
  should<T>(
    requirement: ShouldRequirement | CustomRequirement<"SHOULD">,
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen = {},
  ): boolean {
    return this.#compare({ method: "should", requirement: idOf(requirement), seen }, observed, expected);
  }

  /** What real clients need beyond the specification: a miss warns, and gates only by policy. */
  compat<T>(
    requirement: CompatRequirement,
    observed: T,
    expected: NoInfer<T> | Expectation<T>,
    seen: Seen = {},
  ): boolean {
    return this.#compare({ method: "compat", requirement, seen }, observed, expected);
  }

  /** An observation as text. Decides nothing. */
  note(requirement: RequirementId | CustomRequirement, observed: string, seen: Seen = {}): void {
    this.#guard?.observe(idOf(requirement));
    this.#add(idOf(requirement), { observed }, seen);
  }

  /** Decides nothing. */
  observe(requirement: RequirementId | CustomRequirement, observed: unknown, seen: Seen = {}): void {
    this.#guard?.observe(idOf(requirement));
    this.#add(idOf(requirement), { observed: toObserved(observed) }, seen);
  }

  /** A condition without which the check would say nothing true: if it does not hold, the check is blocked and never passes. */
  assume(condition: boolean, what: string): void {
    if (!condition) throw new Undecided("blocked", { kind: "precondition-not-met", text: what });
  }

  /** The given fixture does not suffice, and something else in the target file would. */
  missingFixture(why: string, unblock: readonly string[]): never {
    throw new Undecided("blocked", why, unblock);
  }

  /** The control request of a negative probe: the same request with nothing wrong must have been served. */
  requireControl(control: ControlResponse, what = "the same request with nothing wrong"): void {
    if (control.admitted) {
      this.#control = control.id;
      return;
    }
    const ambient = isAmbient(control);
    const response = control.facts ?? (control.status === undefined ? {} : { status: control.status });
    throw new Undecided(ambient ? "inconclusive" : "blocked", { kind: "control-not-served", what, response });
  }

  inconclusive(why: string): never {
    throw new Undecided("inconclusive", why);
  }

  notApplicable(why: string): never {
    throw new Undecided("not-applicable", why);
  }

  /** Notes that something could not be decided, and continues; the first note counts, unless something is violated. */
  markUndecided(status: Undecided["status"], message: string): void {
    this.#open ??= { status, message, reason: { kind: "open", text: message } };
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

  #compare<T>(by: ComparisonContext, value: T, expectation: NoInfer<T> | Expectation<T>): boolean {
    const { method, requirement, seen } = by;
    const weight = method === "must" ? "fail" : "warn";
    const { expected, test, magnitude, observed } = toExpectation<T>(expectation);
    const met = test(value);
    this.#guard?.compare(method, requirement, { observed: value, expected: expectation, isMet: met, seen });
    const missing = seen.in && missingEvidence(seen.in, { requirement, at: seen.at, expected, isMet: met });
    if (missing !== undefined) {
      this.#add(requirement, { weight, expected, undecided: missing }, seen);
      return false;
    }
    if (!met && seen.in !== undefined && isRefusedLate(seen.in, { at: seen.at, test })) {
      this.#add(requirement, { observed: "refused after the stream had begun" }, seen);
      return false;
    }
    const kind = JSON.stringify([requirement, weight, expected, seen.at]);
    const known = met ? this.#met.get(kind) : undefined;
    // A judge of all responses compares ten thousand times, and its findings would be most of the record.
    if (known !== undefined) {
      known.count = (known.count ?? 1) + 1;
      return true;
    }
    const shown = observed ?? toObserved(value);
    // The same deviation in every event of a stream, for example: a response may have tens of thousands of them.
    if (!met && this.#repetitions(`${kind} ${JSON.stringify(shown)} ${seen.in?.id}`) > MAX_ALIKE) return false;
    const added = this.#add(
      requirement,
      { weight, met, expected, observed: shown, magnitude: magnitude?.(value) },
      seen,
    );
    if (met) this.#met.set(kind, added);
    return met;
  }

  #repetitions(deviation: string): number {
    const count = (this.#broken.get(deviation) ?? 0) + 1;
    this.#broken.set(deviation, count);
    return count;
  }

  #add(
    requirement: string,
    facts: Omit<FindingFacts, "requirements" | "exchanges">,
    { in: response, also = [], at, because }: Seen,
  ): Finding {
    const made = finding({
      requirements: [requirement],
      ...facts,
      pointer: at,
      // Reading the facts of a response may parse its body, and a finding that is met does not need them.
      response: facts.met === false || facts.undecided !== undefined ? response?.facts : undefined,
      exchanges: [...(response === undefined ? [] : [response]), ...also.slice(0, MAX_ALSO)].map(({ id }) => id),
      control: response?.id === this.#control ? undefined : this.#control,
      subject: because,
    });
    this.findings.push(made);
    return made;
  }
}

/** Suites in JavaScript may pass anything: the guard rejects what the check does not cover. */
function idOf(requirement: RequirementId | CustomRequirement): string {
  return typeof requirement === "string" ? requirement : String(requirement?.id);
}

/** A problem unrelated to the request: another client's traffic, an upstream failure, the network. */
export function isAmbient({
  status,
  complete,
  reason,
}: Pick<ControlResponse, "status" | "complete" | "reason">): boolean {
  if (status === undefined || !complete) return true;
  return status >= 500 || isLimitReason(reason);
}

import { excerptOf, InternalError } from "../core/index.ts";
import type { Deviation, Expected, Finding, Observed, ResponseFacts, UndecidedReason } from "../record/index.ts";
import { isMust } from "../requirements/index.ts";

/** What a judge states about one comparison. */
export interface FindingFacts {
  /** Absent: the main requirement. */
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly requirements: readonly string[];
  /** Whether the expectation was met; absent: nothing was compared. */
  readonly met?: boolean | undefined;
  /** Why nothing could be decided although it had to be. */
  readonly undecided?: UndecidedReason | string | undefined;
  /** Severity of a miss; default `fail`. A warning names only the requirements that are not MUST. */
  readonly weight?: "fail" | "warn" | undefined;
  readonly basis?: Finding["basis"];
  readonly expected?: Expected | string | undefined;
  readonly observed?: Observed | string | undefined;
  readonly pointer?: string | undefined;
  readonly response?: ResponseFacts | undefined;
  readonly exchanges?: readonly string[] | undefined;
  readonly control?: string | undefined;
  readonly subject?: string | undefined;
  /** By how much a bound is missed: a share, or a multiple of the bound. */
  readonly magnitude?: number | undefined;
}

/**
 * The only way to make a finding. Met or broken if something was compared; undecided with its reason; otherwise an observation
 * that decides nothing.
 *
 * @throws InternalError if the weight is `warn` and every requirement is a MUST: a broken MUST fails.
 */
export function finding(facts: FindingFacts): Finding {
  const { met, undecided, pointer, response, subject, magnitude, title, basis, control } = facts;
  const outcome = undecided !== undefined ? "undecided" : met === undefined ? "observed" : met ? "met" : "broken";
  const weight = facts.weight ?? (outcome === "met" || outcome === "broken" ? "fail" : "none");
  const [main = ""] = facts.requirements;
  const requirements = weight === "warn" ? facts.requirements.filter((id) => !isMust(id)) : facts.requirements;
  if (requirements.length === 0 && main !== "")
    throw new InternalError(
      `${facts.requirements.join(", ")} is a MUST: a violation fails or is inconclusive, but never warns`,
    );
  const reason = typeof undecided === "string" ? { kind: "open" as const, text: undecided } : undecided;
  const expected = typeof facts.expected === "string" ? toCondition(facts.expected) : facts.expected;
  const observed =
    typeof facts.observed === "string" ? { kind: "facts" as const, text: facts.observed } : facts.observed;
  const made: Finding = {
    name: facts.name ?? main,
    ...(title === undefined ? {} : { title }),
    requirements: [...requirements],
    outcome,
    weight,
    ...(basis === undefined ? {} : { basis }),
    ...(expected === undefined ? {} : { expected }),
    observed: observed ?? { kind: "absent" },
    ...(reason === undefined ? {} : { reason }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(response === undefined ? {} : { response }),
    exchanges: [...(facts.exchanges ?? [])],
    ...(control === undefined || outcome !== "broken" ? {} : { control }),
    ...(subject === undefined ? {} : { subject: shortened(subject) }),
    ...(outcome === "broken" && Number.isFinite(magnitude) ? { magnitude } : {}),
  };
  return outcome === "broken" ? { ...made, deviation: deviationOf(made) } : made;
}

/** Maximum length of a subject, which may quote what the gateway sent. */
const MAX_SUBJECT_CHARACTERS = 600;

function shortened(text: string): string {
  return text.length <= MAX_SUBJECT_CHARACTERS ? excerptOf(text) : `${excerptOf(text, MAX_SUBJECT_CHARACTERS)}…`;
}

const toCondition = (text: string): Expected => ({ kind: "condition", text });

/** How a broken expectation differed. If it is about the status, the ending or the whole reply, the response decides the kind. */
function deviationOf({ expected, observed, pointer, response }: Finding): Deviation {
  const ending = response?.ending;
  if (ending?.kind === "protocol-error") return { kind: "malformed", detail: ending.detail ?? "" };
  if (pointer === "status" || pointer === "ending" || expected?.kind === "reply") {
    if (response?.status === undefined && response !== undefined)
      return { kind: "no-response", how: ending?.kind ?? "" };
    if (response?.isRefusedLate === true) return { kind: "refused-late" };
    if (ending !== undefined) return { kind: "incomplete", how: ending.kind };
    const status = response?.status ?? (observed.kind === "value" ? observed.value : undefined);
    if (typeof status !== "number") return { kind: "content" };
    const isServed = status >= 200 && status < 300;
    if (!isServed) return { kind: "status" };
    return pointer === "status" ? { kind: "served" } : { kind: "content" };
  }
  if (pointer === "reason") return { kind: "reason" };
  if (pointer !== undefined && HEADER_NAME.test(pointer)) return { kind: "header", name: pointer };
  if (pointer !== undefined) return { kind: "field", pointer };
  const isNumber = observed.kind === "value" && typeof observed.value === "number";
  return isNumber || expected?.kind === "at-most" || expected?.kind === "at-least"
    ? { kind: "bound" }
    : { kind: "content" };
}

/** `Retry-After`, and `action`, which stands for the header that the target file names. */
const HEADER_NAME = /^(action|[A-Z][\w-]*)$/;

import { atPointer, nearestOf } from "../../core/index.ts";
import type { ComparedValues, JudgeGuard } from "../../judging/index.ts";
import { type AnyRequirement, isRequirementId } from "../../requirements/index.ts";
import { Response } from "../response/response.ts";

/** A mistake in the judge of a custom suite. */
class JudgeMistake extends TypeError {}

type Method = Parameters<JudgeGuard["compare"]>[0];

const LEVELS: Readonly<Record<Method, string>> = {
  must: "MUST requirements",
  should: "SHOULD and MAY requirements",
  compat: "COMPAT-… requirements",
};

/**
 * Rejects what the types of a verdict reject, because suites are not type-checked when they are loaded, and values that only a
 * mistake in the suite explains. Without it, such a mistake looks like a defect of the gateway.
 */
export class SuiteGuard implements JudgeGuard {
  readonly #requirements: readonly AnyRequirement[];
  readonly #responses: readonly Response[];

  /**
   * @param requirements that the check covers.
   * @param responses of the recording that is judged.
   */
  constructor(requirements: readonly AnyRequirement[], responses: readonly Response[]) {
    this.#requirements = requirements;
    this.#responses = responses;
  }

  observe(requirement: string): void {
    const covers = this.#requirements.map(({ id }): string => id);
    if (covers.includes(requirement)) return;
    const nearest = nearestOf(requirement, covers);
    const guess = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
    const next = isRequirementId(requirement)
      ? `Add it to "covers".`
      : `Add it to "covers"; if the suite does not declare it yet, declare it with defineRequirement.`;
    throw new JudgeMistake(`"${requirement}" is not in the check's "covers"${guess}. ${next}`);
  }

  compare(method: Method, requirement: string, compared: ComparedValues): void {
    this.observe(requirement);
    const known = this.#requirements.find(({ id }) => id === requirement);
    if (known !== undefined && methodOf(known) !== method) {
      const right = methodOf(known);
      throw new JudgeMistake(
        `\`${method}\` accepts only ${LEVELS[method]}, and ${requirement} is ${known.layer === "compat" ? "a COMPAT-… requirement" : known.level}. Use \`${right}\`.`,
      );
    }
    this.#assertValues(method, compared);
  }

  #assertValues(method: Method, { observed, expected, isMet, seen }: ComparedValues): void {
    if (expected === undefined)
      throw new JudgeMistake(
        `the expected value of \`${method}\` is undefined. To require that something is absent, expect \`absent\`.`,
      );
    if (observed !== undefined || isMet) return;
    const { in: response, at } = seen;
    if (response instanceof Response) {
      if (response.status === undefined) return;
      const there = at === undefined ? undefined : valueAt(response, at);
      if (there !== undefined)
        throw new JudgeMistake(
          `the observed value of \`${method}\` is undefined, although ${at} of the response is ${JSON.stringify(there)?.slice(0, 60)}.`,
        );
      if (at !== undefined) return;
    } else if (this.#responses.some(({ status }) => status === undefined)) return;
    throw new JudgeMistake(
      `the observed value of \`${method}\` is undefined. If the gateway can omit it, name its location: { in: response, at: "X-Header" }, or a JSON pointer.`,
    );
  }
}

/** The only method of a verdict that accepts a requirement. */
function methodOf({ level, layer }: AnyRequirement): Method | "observe" {
  if (layer === "compat") return "compat";
  if (level === "MUST") return "must";
  return level === "OPEN" ? "observe" : "should";
}

/** What a response has at a place as a judge writes it (`Seen.at`). */
function valueAt(response: Response, at: string): unknown {
  if (at === "status") return response.status;
  if (at === "ending") return response.exchange.ending.kind;
  if (at === "reason") return response.reason;
  if (at === "action") return response.action;
  return at.startsWith("/") ? atPointer(response.json, at) : response.header(at);
}

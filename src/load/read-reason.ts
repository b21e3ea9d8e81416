import { atPointer } from "../core/index.ts";
import { parseJson } from "../dialects/index.ts";
import { denialWords, specReason, statusOfDenial } from "../judging/index.ts";
import { DENIALS, type Reason } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import { headPattern } from "./http/head-fields.ts";
import type { LoadExchange } from "./http/load-exchange.ts";

/** What a reason is read from, whichever engine sent the request. */
export type Answered = Pick<LoadExchange, "status" | "headerOf" | "pieces">;

/** Named reason of a refusal, as the target's contract has it; `undefined` when none is named. */
export type ReadReason = (exchange: Answered) => string | undefined;

/** Longest reason that is kept, characters, and how many of a gateway's own: each has counters and samples. */
const MAX_REASON_CHARACTERS = 80;
const MAX_REASONS = 40;
const OTHER = "(other reasons)";

/** Reads reasons where and how the target says that they stand, in the specification's words. */
export function reasonReader({ headers, contract }: Pick<Target, "headers" | "contract">): ReadReason {
  const pattern = headPattern(headers.reason);
  const { reasonFrom = "header" } = contract;
  const words = denialWords(contract);
  const seen = new Set<string>();
  /** A gateway that names another reason each time must not make this process count without end. */
  const bounded = (name: string) => {
    const short = name.slice(0, MAX_REASON_CHARACTERS);
    if (seen.size >= MAX_REASONS && !seen.has(short)) return OTHER;
    seen.add(short);
    return short;
  };
  return (exchange) => {
    if (exchange.status < 300) return undefined;
    const named =
      reasonFrom === "header" ? exchange.headerOf(pattern) : atPointer(parseJson(bodyOf(exchange)), reasonFrom);
    const code = typeof named === "string" ? named : undefined;
    const reason = specReason(words, { status: exchange.status, reason: code, text: () => bodyOf(exchange) });
    return reason === undefined || isReason(reason) ? reason : bounded(reason);
  };
}

const isReason = (text: string): text is Reason => DENIALS.some(({ reason }) => reason === text);

/** Whether the status is the one that the target gives this denial. */
export function isStatusOf(
  { contract }: Pick<Target, "contract">,
  reason: string,
  status: number | undefined,
): boolean {
  return isReason(reason) && status === statusOfDenial(contract, reason);
}

/** Body of a refusal: these are always kept. Coded ones are not read here; the samples are. */
function bodyOf({ pieces }: Answered): string {
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString("utf8");
}

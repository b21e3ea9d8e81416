import { atPointer, excerptOf } from "../../core/index.ts";
import { parseJson } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import { headPattern } from "../../http/load-client/index.ts";
import { denialWords, specReason, statusOfDenial } from "../../judging/index.ts";
import { DENIALS, type Reason } from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";

/** What is needed to read a reason, whichever engine sent the request. */
export type ResponseParts = Pick<LoadExchange, "status" | "headerOf" | "pieces">;

/** The named reason of a denial, according to the target's contract; `undefined` if none is named. */
export type ReadReason = (exchange: ResponseParts) => string | undefined;

/** Maximum length of a reason, characters, and maximum number of gateway-specific reasons: each has counters and samples. */
const MAX_REASON_CHARACTERS = 80;
const MAX_REASONS = 40;
const OTHER = "(other reasons)";

/** Reads reasons from the place and in the format that the target defines, and maps them to the names in the specification. */
export function reasonReader({ headers, contract }: Pick<Target, "headers" | "contract">): ReadReason {
  const pattern = headPattern(headers.reason);
  const { reasonFrom = "header" } = contract;
  const words = denialWords(contract);
  const seen = new Set<string>();
  /** A gateway that invents a new reason each time must not make this process use unbounded memory. */
  const bounded = (name: string) => {
    const short = excerptOf(name, MAX_REASON_CHARACTERS);
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

/** Whether the status is the target's status for this denial. */
export function isStatusOf(
  { contract }: Pick<Target, "contract">,
  reason: string,
  status: number | undefined,
): boolean {
  return isReason(reason) && status === statusOfDenial(contract, reason);
}

/** Body of a denial: these are always kept. Coded bodies are not read here, only in the samples. */
function bodyOf({ pieces }: ResponseParts): string {
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString("utf8");
}

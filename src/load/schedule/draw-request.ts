import { type Random, seededRandom } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { drawLength } from "../workload/lengths.ts";
import type { RequestClass } from "../workload/workload.ts";
import type { TraceEntry } from "./schedule.ts";

/** What an arrival sends, before the text is generated. */
export interface DrawnRequest extends Pick<RequestClass, "images" | "toolCalls"> {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly model: string | undefined;
  readonly prompt:
    | { readonly bytes: number }
    /** The text begins with blocks: equal ids are equal blocks. */
    | { readonly tokens: number; readonly hashIds: readonly number[]; readonly blockTokens?: number | undefined };
  readonly maxTokens: number;
  /** Whether all requests of its class are the same. */
  readonly constant: boolean;
  readonly from: RequestClass;
}

/** Source of the requests. */
export interface RequestSource {
  readonly mix: readonly RequestClass[];
  /** Entries of a trace: their values override those of the mix. */
  readonly entries?: readonly TraceEntry[] | undefined;
  readonly seed: number;
}

/** Spreads neighbouring indexes over the 32-bit seeds. */
const SPREAD = 0x9e3779b1;

/** The request of an arrival: depends only on the source and the index, so that any thread or machine can create it. */
export function drawRequest({ mix, entries, seed }: RequestSource, index: number): DrawnRequest {
  let drawn: Random | undefined;
  const random = () => {
    drawn ??= seededRandom(seed ^ Math.imul(index + 1, SPREAD));
    return drawn();
  };
  const from = drawClass(mix, random);
  const entry = entries === undefined ? undefined : (entries[index % entries.length] as TraceEntry);
  const dialect = entry?.dialect ?? from.dialect;
  return {
    dialect,
    stream: entry?.stream ?? from.stream,
    model: dialect === from.dialect ? from.model : undefined,
    prompt:
      entry === undefined
        ? drawPrompt(from, random)
        : {
            tokens: entry.promptTokens,
            hashIds: entry.hashIds ?? [],
            blockTokens: entry.blockTokens,
          },
    maxTokens: entry?.maxTokens ?? drawLength(from.maxTokens, random),
    images: from.images,
    toolCalls: from.toolCalls,
    constant: entry === undefined && isConstant(from),
    from,
  };
}

function drawPrompt({ promptTokens, promptBytes }: RequestClass, random: Random): DrawnRequest["prompt"] {
  return promptBytes === undefined
    ? { tokens: drawLength(promptTokens, random), hashIds: [] }
    : { bytes: drawLength(promptBytes, random) };
}

/** Whether all requests of a class have the same lengths. */
export function isConstant({ promptTokens, promptBytes, maxTokens }: RequestClass): boolean {
  return [promptBytes ?? promptTokens, maxTokens].every((lengths) => typeof lengths === "number");
}

/** Draws a class by its weight. */
function drawClass(mix: readonly RequestClass[], random: Random): RequestClass {
  if (mix.length === 1) return mix[0] as RequestClass;
  let at = random() * mix.reduce((sum, { weight }) => sum + weight, 0);
  for (const entry of mix) {
    at -= entry.weight;
    if (at < 0) return entry;
  }
  return mix.at(-1) as RequestClass;
}

import type { Answer, Traffic } from "../conformance/index.ts";
import { isObject, member, UnreachableError } from "../core/index.ts";
import { type Advice, connectionAdvice, listAdvice, modelAdvice } from "./advice.ts";

/**
 * Makes sure that something answers before anything is judged, and finds out the plain model when the target does not
 * name one: taken verbatim from the list (CLIENT-1).
 *
 * @param tell gets what looks wrong about the target file: a run goes on, because it may be the gateway that is wrong.
 * @throws UnreachableError when no HTTP answer comes.
 */
export async function prepare(traffic: Traffic, tell?: (advice: Advice) => void): Promise<Traffic> {
  const list = await traffic.ask({ endpoint: "models" }, { endpoint: "models", mode: "whole" });
  if (list.status === undefined) throw unreachable(traffic.target.baseUrl, list);
  const listed = listedModels(list);
  const { target } = traffic;
  if (tell !== undefined) {
    for (const advice of [listAdvice(target, list) ?? [], modelAdvice(target, listed)].flat()) tell(advice);
  }
  traffic.fillModels(listed[0]);
  return traffic;
}

/** Ids that are read of a list. */
const MOST_MODELS = 10_000;
const LONGEST_ID = 256;

/** An id that can be asked for: each request repeats it, so that one of megabytes would be sent a thousand times. */
export function isModelId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id);
}

/** Ids of a model list; none when it is no such thing. */
export function listedModels(list: Answer): string[] {
  const data = member(list.json, "data");
  const ids = Array.isArray(data) ? data.filter(isObject).map((entry) => entry["id"]) : [];
  return ids.filter(isModelId).slice(0, MOST_MODELS);
}

export function unreachable(baseUrl: string, { exchange }: Answer): UnreachableError {
  const { kind, detail } = exchange.ending;
  const { cause, next } = connectionAdvice(baseUrl, `${kind}: ${detail ?? ""}`, process.env);
  return new UnreachableError(`no answer from ${baseUrl}: ${cause} (${detail ?? kind})`, { hint: next });
}

import type { Traffic } from "../conformance/index.ts";
import { isObject, member, UnreachableError } from "../core/index.ts";

/**
 * Makes sure that something answers before anything is judged, and finds out the plain model when the target does not
 * name one: taken verbatim from the list (CLIENT-1).
 *
 * @throws UnreachableError when no HTTP answer comes.
 */
export async function prepare(traffic: Traffic): Promise<Traffic> {
  const list = await traffic.ask({ endpoint: "models" }, { endpoint: "models", mode: "whole" });
  if (list.status === undefined) {
    const { kind, detail } = list.exchange.ending;
    throw new UnreachableError(`no answer from ${traffic.target.baseUrl}: ${detail ?? kind}`, {
      hint: "Check baseUrl in the target file, and that the gateway is running.",
    });
  }
  const data = member(list.json, "data");
  const ids = Array.isArray(data) ? data.filter(isObject).map((entry) => entry["id"]) : [];
  traffic.fillModels(ids.find((id) => typeof id === "string" && id !== "") as string | undefined);
  return traffic;
}

import { listOf, member } from "../../../src/core/index.ts";
import { parseJson } from "../../../src/dialects/index.ts";
import { isAmbient, type Verdict } from "../../../src/judging/index.ts";
import type { MarkedExchange } from "../marked.ts";

/**
 * The body that reached the provider that served the request, or the last one. Without one the check does not apply if the
 * gateway refused the request with a 4xx that concerns the request itself, and is inconclusive otherwise.
 */
export function receivedBody({ response, upstream }: MarkedExchange, verdict: Verdict): unknown {
  const served = upstream.requests.find(({ status }) => status === 200) ?? upstream.requests.at(-1);
  if (served === undefined) {
    if (response.admitted) verdict.inconclusive("the request was served by another provider");
    if (isAmbient(response) || !isRefusal(response))
      verdict.inconclusive(`the request reached no provider: ${response.summary}`);
    return verdict.notApplicable(`the gateway rejected the request: ${response.summary}`);
  }
  if (Buffer.byteLength(served.body) < served.bodyBytes)
    verdict.inconclusive(`the provider received ${served.bodyBytes} bytes, and recorded only ${served.body.length}`);
  return parseJson(served.body);
}

/** A 4xx that says something about the request: a 429 or 408 does not. */
function isRefusal({ status = 0 }: MarkedExchange["response"]): boolean {
  return status >= 400 && status < 500 && status !== 429 && status !== 408;
}

/** The body as it was sent. */
export const sentBody = ({ response }: MarkedExchange): unknown => parseJson(response.exchange.request.body ?? "");

/** Text of a turn or a tool result: a string, or the joined texts of its parts. */
export const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : listOf(content)
        .map((part) => member(part, "text"))
        .filter((text) => typeof text === "string")
        .join("");

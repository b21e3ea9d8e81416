import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";

/**
 * Time to first token (TTFT) of a stream: from its send to its first output of any kind, which is text, reasoning or a tool call.
 * The first byte and the first event are other, earlier moments, and do not replace it: a gateway may send a head, a role or a
 * comment long before the model produces anything.
 *
 * @returns µs; `undefined` for a stream without output, and for a non-streaming reply.
 */
export function ttftUs({
  sentUs,
  firstTokenUs,
}: Pick<LoadExchange | Observation, "sentUs" | "firstTokenUs">): number | undefined {
  // Without a token, it is 0 in an exchange and `undefined` in an observation.
  return firstTokenUs === undefined || firstTokenUs === 0 ? undefined : firstTokenUs - sentUs;
}

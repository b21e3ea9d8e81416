import { noAnswer } from "../core/index.ts";
import { endpointUrl } from "../dialects/index.ts";
import type { Target } from "../target/index.ts";
import { Sender } from "./http/sender.ts";

/**
 * Opens one connection and closes it, before any load is sent: failures of every request would otherwise be told as a result.
 *
 * @throws UnreachableError with what to do about it when no connection comes about.
 */
export async function assertReachable({ baseUrl, timeouts, http }: Target): Promise<void> {
  await using sender = new Sender({
    url: endpointUrl(baseUrl, "chat"),
    maxConnections: 1,
    deadlineMs: timeouts.answerMs,
    idleMs: timeouts.idleMs,
    http,
  });
  if ((await sender.open(1)) === 0) throw noAnswer(baseUrl, sender.lastFailure ?? "no connection");
}

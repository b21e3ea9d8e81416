import { unreachableError } from "../../core/index.ts";
import { endpointUrl } from "../../dialects/index.ts";
import { Sender } from "../../http/load-client/index.ts";
import type { Target } from "../../target/index.ts";

/**
 * Opens and closes one connection before any load is sent. Otherwise, an unreachable target would be reported as failures of every request.
 *
 * @throws UnreachableError with advice, if no connection can be opened.
 */
export async function assertReachable({ baseUrl, timeouts, http }: Target): Promise<void> {
  await using sender = new Sender({
    url: endpointUrl(baseUrl, "chat"),
    maxConnections: 1,
    deadlineMs: timeouts.responseMs,
    idleMs: timeouts.idleMs,
    http,
  });
  if ((await sender.open(1)) === 0) throw unreachableError(baseUrl, sender.lastFailure ?? "no connection");
}

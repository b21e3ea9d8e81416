import { unreachableError } from "../../core/index.ts";
import { addressesOf, atAddress, type Target } from "../../target/index.ts";
import { senderTo } from "./sender-to.ts";

/**
 * Opens and closes one connection to each address before any load is sent. Otherwise, an unreachable target would be reported as failures of every request.
 *
 * @throws UnreachableError with advice, if no connection can be opened.
 */
export async function assertReachable(target: Target): Promise<void> {
  for (const url of addressesOf(target)) {
    await using sender = senderTo(atAddress(target, url), { maxConnections: 1 });
    if ((await sender.open(1)) === 0) throw unreachableError(url, sender.lastFailure ?? "no connection");
  }
}

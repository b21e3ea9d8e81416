import { endpointUrl } from "../../dialects/index.ts";
import { type InFlightGauge, Sender, SpreadSender } from "../../http/load-client/index.ts";
import { addressesOf } from "../../target/index.ts";
import type { LoadTarget } from "./prepared-requests.ts";

interface SenderToOptions {
  /** Maximum number of requests in flight, over all addresses. */
  readonly maxConnections: number;
  readonly gauge?: InFlightGauge | undefined;
}

export type TargetSender = Sender | SpreadSender;

/** A sender to a target. Each of its connections belongs to one address, and requests are prepared for one. */
export function senderTo(
  target: Pick<LoadTarget, "baseUrl" | "addresses" | "timeouts" | "http">,
  options: SenderToOptions,
): TargetSender {
  const { timeouts, http } = target;
  const bounds = { ...options, deadlineMs: timeouts.responseMs, idleMs: timeouts.idleMs, http };
  const [url = "", ...others] = addressesOf(target).map((address) => endpointUrl(address, "chat"));
  return others.length === 0 ? new Sender({ ...bounds, url }) : new SpreadSender([url, ...others], bounds);
}

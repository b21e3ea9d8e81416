import type { Delivery } from "../delivery/delivery.ts";
import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** Ends the connection without sending a byte of a response. */
export function cutOff({ response, closed }: Delivery, how: "close" | "reset" = "close"): void {
  const { socket } = response;
  const finish = () => closed({ outcome: "failed", status: 0, deliveredTokens: 0 });
  if (socket === null || response.destroyed) {
    finish();
    return;
  }
  response.once("close", finish);
  if (how === "reset") socket.resetAndDestroy();
  else socket.destroy();
}

/** Drops the connection instead of responding. */
export function dropsConnection(when: When, how: "close" | "reset" = "close"): Apply {
  return wrap("deliver", (next) => (parcel, call, delivery) => {
    if (when(call)) cutOff(delivery, how);
    else next(parcel, call, delivery);
  });
}

/** Longer than any client's timeout. Milliseconds. */
const NEVER_MS = 3_600_000;

/** Never sends the response. */
export function neverResponds(when: When): Apply {
  return delays(when, () => NEVER_MS);
}

/** Delays the response. */
export function delays(when: When, byMs: () => number): Apply {
  return wrap("seal", (next) => (response, call) => {
    const parcel = next(response, call);
    return when(call) ? { ...parcel, afterMs: parcel.afterMs + byMs() } : parcel;
  });
}

import type { ServerResponse } from "node:http";
import type { Call } from "./behaviour.ts";
import { refusal } from "./refusal.ts";
import { refuse } from "./refuse.ts";
import { type GatewayResponse, headerOf } from "./response.ts";

/** Handles a request: decides, encodes and delivers the response. Never throws and never rejects. */
export function runCall(call: Call, serverResponse: ServerResponse): void {
  if (call.services.upstream !== undefined) call.left = leftSignal(serverResponse);
  let response: GatewayResponse | Promise<GatewayResponse>;
  try {
    response = call.behaviour.respond(call);
  } catch {
    response = internalError(call);
  }
  if (!(response instanceof Promise)) {
    hand(response, call, serverResponse);
    return;
  }
  response.then(
    (decided) => hand(decided, call, serverResponse),
    () => hand(internalError(call), call, serverResponse),
  );
}

/** Fires when the client has left before the end. */
function leftSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) left.abort();
  });
  return left.signal;
}

function hand(response: GatewayResponse, call: Call, serverResponse: ServerResponse): void {
  const { behaviour, arrival, services, key } = call;
  call.refused = response.refusal;
  const parcel = behaviour.seal(response, call);
  services.traffic.add({
    atUs: arrival.arrivedUs,
    atMs: arrival.arrivedMs,
    accountId: key?.account.id,
    keyId: key?.id,
    endpoint: arrival.endpoint,
    stream: call.wantsStream,
    status: parcel.status,
    reason: response.refusal?.reason,
    retryAfter: headerOf(parcel.headers, "retry-after"),
    connectionId: arrival.connection.id,
  });
  behaviour.deliver(parcel, call, { response: serverResponse, closed: (closing) => behaviour.ended(call, closing) });
}

/** The caller only learns that something failed: an error's text may contain anything. */
function internalError(call: Call): GatewayResponse {
  return refuse(refusal("internal_error"), call);
}

import type { ServerResponse } from "node:http";
import { type Answer, headerOf } from "./answer.ts";
import type { Call } from "./behaviour.ts";
import { refusal } from "./refusal.ts";
import { refuse } from "./refuse.ts";

/** Answers a request: decides, puts the answer into bytes, hands it over. Never throws and never rejects. */
export function runCall(call: Call, response: ServerResponse): void {
  let answer: Answer | Promise<Answer>;
  try {
    answer = call.behaviour.answer(call);
  } catch {
    answer = internalError(call);
  }
  if (!(answer instanceof Promise)) {
    hand(answer, call, response);
    return;
  }
  answer.then(
    (decided) => hand(decided, call, response),
    () => hand(internalError(call), call, response),
  );
}

function hand(answer: Answer, call: Call, response: ServerResponse): void {
  const { behaviour, arrival, services, key } = call;
  call.refused = answer.refusal;
  const parcel = behaviour.seal(answer, call);
  services.traffic.add({
    atUs: arrival.arrivedUs,
    atMs: arrival.arrivedMs,
    accountId: key?.account.id,
    keyId: key?.id,
    endpoint: arrival.endpoint,
    stream: call.wantsStream,
    status: parcel.status,
    reason: answer.refusal?.reason,
    retryAfter: headerOf(parcel.headers, "retry-after"),
    connectionId: arrival.connection.id,
  });
  behaviour.deliver(parcel, call, { response, closed: (closing) => behaviour.ended(call, closing) });
}

/** Whatever went wrong, the caller learns no more than that: an error's text may hold anything. */
function internalError(call: Call): Answer {
  return refuse(refusal("internal_error"), call);
}

import type { Behaviour, Call } from "../pipeline/behaviour.ts";
import type { Reason, Refusal } from "../pipeline/refusal.ts";
import type { Ending, EventKind, GatewayResponse, Parcel, Step, StreamEvent } from "../pipeline/response.ts";
import { always, type When } from "./when.ts";

export type Apply = (behaviour: Behaviour) => Behaviour;

/** Wraps one decision; `next` is the original. */
export function wrap<K extends keyof Behaviour>(name: K, around: (next: Behaviour[K]) => Behaviour[K]): Apply {
  return (behaviour) => ({ ...behaviour, [name]: around(behaviour[name]) });
}

/** Combines several changes. */
export function all(...changes: readonly Apply[]): Apply {
  return (behaviour) => changes.reduce((changed, change) => change(changed), behaviour);
}

export type RefusalEdit = (refused: Refusal, call: Call) => Refusal;
export type ResponseEdit = (response: GatewayResponse, call: Call) => GatewayResponse;
export type ReplyEdit = (value: unknown, call: Call) => unknown;
export type EventsEdit = (events: StreamEvent[], call: Call) => Iterable<StreamEvent>;
export type EventEdit = (
  event: StreamEvent,
  index: number,
  count: number,
  call: Call,
) => StreamEvent | readonly StreamEvent[] | undefined;
export type StepsEdit = (steps: Step[], call: Call) => Iterable<Step>;
export type ParcelEdit = (parcel: Parcel, call: Call) => Parcel;

type Reasons = Reason | readonly Reason[];

const covers = (reasons: Reasons, reason: Reason) =>
  typeof reasons === "string" ? reasons === reason : reasons.includes(reason);

/** Changes a refusal before it is written. */
export function onRefusal(reasons: Reasons, when: When, edit: RefusalEdit): Apply {
  return wrap(
    "refuse",
    (next) => (refused, call) =>
      next(covers(reasons, refused.reason) && when(call) ? edit(refused, call) : refused, call),
  );
}

/** Changes the response to a refused request. */
export function onDenial(reasons: Reasons, when: When, edit: ResponseEdit): Apply {
  return wrap("refuse", (next) => (refused, call) => {
    const response = next(refused, call);
    return covers(reasons, refused.reason) && when(call) ? edit(response, call) : response;
  });
}

/** Admits requests that the gateway would deny for this reason. */
export function admitDespite(reason: Reason, when: When = always): Apply {
  return wrap("check", (next) => (name, call) => {
    const refused = next(name, call);
    return refused?.reason === reason && when(call) ? undefined : refused;
  });
}

/** Changes the value of a non-streaming reply. */
export function onReply(when: When, edit: ReplyEdit): Apply {
  return wrap("reply", (next) => (plan, call) => {
    const value = next(plan, call);
    return when(call) ? edit(value, call) : value;
  });
}

/** Changes the response to a request that is served. */
export function onServed(when: When, edit: ResponseEdit): Apply {
  return wrap("respond", (next) => (call) => {
    const response = next(call);
    const change = (decided: GatewayResponse) =>
      decided.status < 300 && decided.refusal === undefined && when(call) ? edit(decided, call) : decided;
    return response instanceof Promise ? response.then(change) : change(response);
  });
}

/** Changes the events of a streamed reply. */
export function onEvents(when: When, edit: EventsEdit): Apply {
  return wrap("events", (next) => (plan, call) => {
    const events = next(plan, call);
    return when(call) ? edit([...events], call) : events;
  });
}

/** Changes each event of the given kinds; `undefined` removes it. */
export function eachEvent(when: When, kinds: readonly EventKind[], edit: EventEdit): Apply {
  return onEvents(when, (events, call) => {
    const count = events.filter((event) => kinds.includes(event.kind)).length;
    let index = -1;
    return events.flatMap((event) => {
      if (!kinds.includes(event.kind)) return [event];
      index += 1;
      const edited = edit(event, index, count, call);
      if (edited === undefined) return [];
      return "kind" in edited ? [edited] : [...edited];
    });
  });
}

/** Changes the framed pieces of a stream. */
export function onSteps(when: When, edit: StepsEdit): Apply {
  return wrap("pack", (next) => (steps, call) => (when(call) ? edit([...next(steps, call)], call) : next(steps, call)));
}

/** Changes a response's bytes and headers, just before they are delivered. */
export function onParcel(when: When, edit: ParcelEdit): Apply {
  return wrap("seal", (next) => (response, call) => {
    const parcel = next(response, call);
    return when(call) ? edit(parcel, call) : parcel;
  });
}

/** Changes how a streamed response ends. */
export function endingAs(ending: Ending, when: When = always): Apply {
  return onServed(when, (response) =>
    response.body.kind === "events" ? { ...response, body: { ...response.body, ending } } : response,
  );
}

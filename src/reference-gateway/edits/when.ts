import { isObject, member } from "../../core/index.ts";
import type { Behaviour, Call } from "../pipeline/behaviour.ts";

/** The requests that a change applies to. */
export type When = (call: Call) => boolean;

export const always: When = () => true;
export const streaming: When = (call) => call.wantsStream;
export const nonStreaming: When = (call) => !call.wantsStream;
export const onChat: When = (call) => call.endpoint === "chat";
export const onMessages: When = (call) => call.endpoint === "messages";
export const onModels: When = (call) => call.endpoint === "models";
export const inference: When = (call) => call.endpoint === "chat" || call.endpoint === "messages";

/** The second key of an account, as opposed to its first. */
export const secondKey: When = (call) => call.key?.ordinal === 1;

/** With a key of an account whose balance is exhausted. */
export const onEmptyAccount: When = (call) => (call.key?.account.balanceMicroUsd ?? 1) <= 0;

/** The response may have a body. */
export const withBody: When = ({ arrival }) => arrival.method !== "HEAD" && arrival.purpose !== "options";

/** Not the first request on its connection. */
export const reused: When = (call) => call.arrival.connection.served > 0;
export const fresh: When = (call) => call.arrival.connection.served === 0;

export const multiTurn: When = ({ parsed }) => {
  const turns = member(parsed, "messages");
  return Array.isArray(turns) && turns.length > 1;
};

/** The conversation begins with a system turn. */
export const systemTurn: When = ({ parsed }) => {
  const turns = member(parsed, "messages");
  return Array.isArray(turns) && member(turns[0], "role") === "system";
};

/** Contains non-ASCII characters, sent verbatim or escaped. */
export const nonAscii: When = ({ parsed, bodyText }) =>
  isObject(parsed) && (ASCII_ONLY.test(bodyText) ? !ASCII_ONLY.test(JSON.stringify(parsed["messages"]) ?? "") : true);

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant, control characters included
const ASCII_ONLY = /^[\x00-\x7f]*$/;

/** A body longer than four kilobytes. */
export const longBody: When = ({ bodyText }) => bodyText.length > 4_096;

/** The body was sent chunked, without a length. */
export const inChunks: When = ({ arrival }) => arrival.headers["transfer-encoding"] !== undefined;

/** An explicit `"stream": false`. */
export const saysNonStreaming: When = ({ parsed }) => member(parsed, "stream") === false;

/** The body has a field that is not part of the interface. */
export const extraField: When = ({ parsed }) =>
  isObject(parsed) && Object.keys(parsed).some((name) => !SHOWN.has(name));

const SHOWN = new Set(["model", "messages", "stream", "max_tokens", "system", "stream_options"]);

export const modelIs =
  (...ids: readonly string[]): When =>
  ({ parsed }) =>
    ids.includes(String(member(parsed, "model")));

export const both =
  (...conditions: readonly When[]): When =>
  (call) =>
    conditions.every((condition) => condition(call));

export const not =
  (condition: When): When =>
  (call) =>
    !condition(call);

/**
 * State that lives as long as a change is enabled: one value per gateway and activation, although the tables of changes are
 * constants.
 */
export function remembered<T>(make: () => T): (call: Call) => T {
  const values = new WeakMap<Behaviour, T>();
  return ({ behaviour }) => {
    const known = values.get(behaviour);
    if (known !== undefined) return known;
    const value = make();
    values.set(behaviour, value);
    return value;
  };
}

/** Decides once per request, however often it is called. */
export function once(decide: When): When {
  const decided = new WeakMap<Call, boolean>();
  return (call) => {
    const known = decided.get(call);
    if (known !== undefined) return known;
    const value = decide(call);
    decided.set(call, value);
    return value;
  };
}

/** Every n-th of the requests that match `condition`; never the first of them, unless n is 1. */
export function every(n: number, condition: When = inference): When {
  const counter = remembered(() => ({ seen: 0 }));
  return once((call) => {
    if (!condition(call)) return false;
    const state = counter(call);
    state.seen += 1;
    return state.seen % n === 0;
  });
}

/** All but the first n of the requests that match `condition`. */
export function after(n: number, condition: When = inference): When {
  const counter = remembered(() => ({ seen: 0 }));
  return once((call) => {
    if (!condition(call)) return false;
    const state = counter(call);
    state.seen += 1;
    return state.seen > n;
  });
}

const DATED = /^\d{4}-\d{2}-\d{2}$/;

/** The date of the version header: whatever the vendor's name before `-version`, and only if it looks like a date. */
export function datedVersion({ arrival }: Call): string | undefined {
  const found = Object.entries(arrival.headers).find(
    ([name, value]) => name.endsWith("-version") && typeof value === "string" && DATED.test(value),
  );
  return found === undefined ? undefined : String(found[1]);
}

/** At least n requests of the account are in flight. */
export const crowded =
  (n: number): When =>
  (call) =>
    (call.key?.account.concurrency.held ?? 0) >= n;

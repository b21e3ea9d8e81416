import type { When } from "./when.ts";

/** No `Authorization` at all. */
export const missingKey: When = ({ arrival }) => arrival.headers.authorization === undefined;

/** A bearer key that can be read but was never issued. */
export const unknownKey: When = (call) =>
  call.arrival.headers.authorization !== undefined && call.behaviour.presentedKey(call) !== undefined;

/** An `Authorization` that holds no bearer key. */
export const malformedKey: When = (call) =>
  call.arrival.headers.authorization !== undefined && call.behaviour.presentedKey(call) === undefined;

/** The value of `Authorization`, as bytes of Latin-1; empty when there is none. */
export const authorization = ({ arrival }: Parameters<When>[0]): string => arrival.headers.authorization ?? "";

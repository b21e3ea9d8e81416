import type { When } from "./when.ts";

/** No `Authorization` at all. */
export const missingKey: When = ({ arrival }) => arrival.headers.authorization === undefined;

/** A well-formed bearer key that was never issued. */
export const unknownKey: When = (call) =>
  call.arrival.headers.authorization !== undefined && call.behaviour.presentedKey(call) !== undefined;

/** An `Authorization` that holds no bearer key. */
export const malformedKey: When = (call) =>
  call.arrival.headers.authorization !== undefined && call.behaviour.presentedKey(call) === undefined;

/** The value of `Authorization`, as Latin-1 bytes; empty if absent. */
export const authorization = ({ arrival }: Parameters<When>[0]): string => arrival.headers.authorization ?? "";

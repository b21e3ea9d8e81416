import { both, inference, onChat, type When, whole } from "./when.ts";

/** A non-streaming reply of either dialect, as opposed to a refusal. */
export const wholeReply: When = (call) => call.refused === undefined && inference(call) && whole(call);

/** A non-streaming reply of the chat dialect. */
export const chatReply: When = both(onChat, wholeReply);

import { both, inference, nonStreaming, onChat, type When } from "./when.ts";

/** A non-streaming reply of either dialect, as opposed to a refusal. */
export const nonStreamingReply: When = (call) => call.refused === undefined && inference(call) && nonStreaming(call);

/** A non-streaming reply of the chat dialect. */
export const chatReply: When = both(onChat, nonStreamingReply);

import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** Responds as if the request did not have `stream: true`. */
export const streamIgnored = (when: When): Apply =>
  wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : { ...request, stream: false };
  });

/** Responds with a stream although none was requested. */
export const streamForced = (when: When): Apply =>
  wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : { ...request, stream: true };
  });

import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** The request is answered as if no stream had been asked for. */
export const streamIgnored = (when: When): Apply =>
  wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : { ...request, stream: false };
  });

/** A stream is answered although none was asked for. */
export const streamForced = (when: When): Apply =>
  wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : { ...request, stream: true };
  });

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { outliveWriteErrors } from "../../core/index.ts";
import type { OutgoingRequest } from "./live-exchange.ts";
import { wholeBody } from "./sent-body.ts";

/** What happened to a request that waited for permission to send its body. */
export interface ContinueOutcome {
  /** Final status; `undefined` if none arrived in time. */
  readonly status: number | undefined;
  /** Whether `100 Continue` arrived before the body was sent. */
  readonly continued: boolean;
  readonly ms: number;
}

/** After this time, a client may send its body without `100 Continue` (RFC 9110, 10.1.1), ms. */
const CONTINUE_TIMEOUT_MS = 1_000;

/**
 * Sends a request with `Expect: 100-continue`, which undici does not support. The body is sent on `100 Continue`, or after a
 * second without it. Never throws for anything a gateway does.
 */
export function expectContinue(outgoing: OutgoingRequest, deadlineMs: number): Promise<ContinueOutcome> {
  const { url, method, headers } = outgoing;
  const body = wholeBody(outgoing.body ?? "");
  const startMs = performance.now();
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    let continued = false;
    let sent = false;
    const fields = {
      ...Object.fromEntries(headers),
      "Content-Length": Buffer.byteLength(body),
      Expect: "100-continue",
    };
    const request = send(url, { method, agent: false, headers: fields });
    const done = (status: number | undefined) => {
      clearTimeout(deadline);
      clearTimeout(continueTimer);
      resolve({ status, continued, ms: Math.round(performance.now() - startMs) });
      request.destroy();
    };
    const sendBody = () => {
      if (!sent) request.end(body);
      sent = true;
    };
    // After a stall, Node runs expired timers before pending I/O: `setImmediate` lets a response that has already arrived count.
    const deadline = setTimeout(() => setImmediate(() => done(undefined)), deadlineMs);
    const continueTimer = setTimeout(sendBody, CONTINUE_TIMEOUT_MS);
    request.on("socket", outliveWriteErrors);
    request.on("continue", () => {
      continued = true;
      sendBody();
    });
    request.on("response", (response) => {
      response.resume();
      done(response.statusCode);
    });
    request.on("error", () => done(undefined));
    request.flushHeaders();
  });
}

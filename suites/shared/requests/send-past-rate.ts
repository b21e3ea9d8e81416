import type { RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { isLimitReason } from "../../../src/dialects/index.ts";

const ATTEMPTS = 4;
/** Time between attempts, ms: long enough for a limiter that requires evenly spaced requests. */
const SPACING_MS = 700;

/**
 * Sends a request whose failure could be disguised as a rate denial: such a response is retried a little later, regardless of its
 * Retry-After. If it persists, it is not about the rate.
 */
export async function sendPastRate(t: Session, request: RequestSpec): Promise<Response> {
  let response = await t.send({ ...request, repeats: false });
  for (let attempt = 1; attempt < ATTEMPTS && isLimitReason(response.reason); attempt++) {
    await t.wait(attempt * SPACING_MS);
    response = await t.send({ ...request, repeats: false });
  }
  return response;
}

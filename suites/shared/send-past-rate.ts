import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";

const ATTEMPTS = 4;
/** Between attempts, ms: a limiter that wants requests evenly spaced is content after so long. */
const SPACING_MS = 700;

/**
 * Sends a request whose own failure could be dressed up as a rate denial: such an answer is tried again a little later,
 * without believing what it says about waiting. One that stays is not about the rate.
 */
export async function sendPastRate(t: Session, request: RequestSpec): Promise<Response> {
  let response = await t.send({ ...request, repeats: false });
  for (let attempt = 1; attempt < ATTEMPTS && isRateDenial(response); attempt++) {
    await t.wait(attempt * SPACING_MS);
    response = await t.send({ ...request, repeats: false });
  }
  return response;
}

function isRateDenial({ reason }: Response): boolean {
  return reason === "rate_limit_exceeded" || reason === "concurrency_limit_exceeded";
}

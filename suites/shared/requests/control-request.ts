import type { RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import type { Verdict } from "../../../src/judging/index.ts";

/** The valid request that a negative probe is a copy of, and its non-streaming form if streaming itself is in doubt. */
export type ControlRequest = {
  readonly control: Response;
  readonly nonStreaming: Response | null;
};

/**
 * Sends the control request. `stream` is not a documented field of `/messages`, so there the non-streaming form is sent as well.
 */
export async function sendControl(t: Session, request: RequestSpec = {}): Promise<ControlRequest> {
  const control = await t.control(request);
  const doubtful = control.requested.endpoint === "messages" && t.mode === "streaming" && !control.admitted;
  return { control, nonStreaming: doubtful ? await t.send({ ...request, mode: "non-streaming" }) : null };
}

/**
 * Continues only if the control request was served. A gateway that refuses `stream` on `/messages` but serves the non-streaming
 * form follows the specification to the letter (MSG-14): the streaming instance does not apply to it.
 */
export function assumeControl(verdict: Verdict, { control, nonStreaming }: ControlRequest): void {
  const { status = 0 } = control;
  if (nonStreaming?.admitted === true && status >= 400 && status < 500) {
    verdict.notApplicable(`this gateway does not stream on /messages (${control.summary})`);
  }
  verdict.requireControl(control);
}

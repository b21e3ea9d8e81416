import type { Response } from "../../checks/index.ts";
import type { Reason } from "../../requirements/index.ts";

/** An answer to something that is wrong on purpose. */
export interface DenialSample {
  /** What the specification calls this denial; `undefined` for a refused body, which is none. */
  readonly reason: Reason | undefined;
  /** What was wrong, in words. */
  readonly what: string;
  /** What of the request an answer may repeat: words that hold it differ from request to request. */
  readonly repeats?: string;
  readonly answer: Response;
}

import { type Response, undeclaredRpm } from "../../checks/index.ts";
import type { Target } from "../../target/index.ts";
import type { Advice } from "../preflight/index.ts";

/** Advice, given once, about a limit that slowed the run down and that the target file does not declare. */
export function limitAdvice({ limits }: Pick<Target, "limits">, responses: readonly Response[]): Advice | undefined {
  if (limits !== undefined) return undefined;
  const rpm = undeclaredRpm(responses);
  if (rpm === undefined) return undefined;
  return {
    cause: `the gateway limits this client to about ${rpm} requests/min, although the target file declares no limits`,
    next: `The run waited for it. Add the limits of the account or of the address: limits: { rpm: ${rpm}, inFlight: … }`,
  };
}

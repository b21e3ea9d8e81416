import { isLimitReason } from "../../dialects/index.ts";
import type { Response } from "../response/response.ts";

const MINUTE_US = 60_000_000;

/**
 * Whether a request was denied for a limit that the target file does not declare, such as a proxy's limit per address: a 429 to
 * a valid request. Such a limit need not name its reason as the specification requires.
 */
export function isUndeclaredLimit({ status, requested, reason }: Response): boolean {
  return (
    status === 429 &&
    (reason === undefined || isLimitReason(reason)) &&
    requested.rpm === undefined &&
    requested.account === "main" &&
    requested.intent === "valid"
  );
}

/**
 * The limit that such denials show, in requests per minute: the most that were admitted in the minute before one of them.
 *
 * @returns `undefined` if none was denied.
 */
export function undeclaredRpm(responses: readonly Response[]): number | undefined {
  const denied = responses.filter(isUndeclaredLimit);
  if (denied.length === 0) return undefined;
  const admittedUs = responses
    .filter(({ admitted, requested }) => admitted && requested.account === "main")
    .map(({ exchange }) => exchange.timeline.dueUs);
  const before = denied.map(({ exchange: { timeline } }) => {
    return admittedUs.filter((us) => us <= timeline.dueUs && us > timeline.dueUs - MINUTE_US).length;
  });
  return Math.max(...before);
}

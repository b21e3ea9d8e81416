import type { Response } from "../../checks/index.ts";
import { DIALECTS, type Dialect } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";
import type { Advice } from "./advice.ts";

const PATHS: Readonly<Record<Dialect, string>> = { chat: "/chat/completions", messages: "/messages" };
/** How a gateway responds to a path or form of request that it does not support. */
const NOT_THERE: readonly number[] = [404, 405, 501];

/**
 * Whether a gateway seems to serve only one dialect and the target file does not say so.
 *
 * @param responses of a run so far, whatever they were sent for.
 * @returns `undefined` unless one dialect was served and every valid request in the other got 404, 405 or 501.
 */
export function dialectAdvice(
  { dialects }: Pick<Target, "dialects">,
  responses: readonly Response[],
): Advice | undefined {
  if (dialects.length < DIALECTS.length) return undefined;
  for (const [served, missing] of [DIALECTS, [...DIALECTS].reverse()] as [Dialect, Dialect][]) {
    const good = (dialect: Dialect) =>
      responses.filter(
        ({ requested, status }) =>
          requested.endpoint === dialect && requested.intent !== "denied" && status !== undefined,
      );
    const seen = good(missing);
    const [first] = seen;
    if (first === undefined || !seen.every(({ status = 0 }) => NOT_THERE.includes(status))) continue;
    if (!good(served).some(({ admitted }) => admitted)) continue;
    return {
      cause: `every request to ${PATHS[missing]} got ${first.status}, and ${PATHS[served]} is served`,
      next: `If the gateway has no ${missing} dialect, declare it in the target file: dialects: [${served}]`,
    };
  }
  return undefined;
}

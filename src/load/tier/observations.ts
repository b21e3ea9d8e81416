import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";
import { LEFT } from "../../limits/index.ts";
import type { RequestOutcome } from "../send/outcome.ts";

/** Requests that we aborted on purpose are not failures. */
export const isFailure = ({ outcome, what }: Observation): boolean =>
  (outcome === "failed" || outcome === "unfinished") && what !== "aborted";

/** Roles of requests to the long model, which are slow on purpose. */
const LONG_ROLES: readonly string[] = ["lone", "wave", "again", "background", LEFT];
export const isLong = ({ role }: Observation): boolean => LONG_ROLES.includes(role);

/** From the send to the end, ms. */
export function serviceMs({ sentUs, endUs }: Pick<Observation, "sentUs" | "endUs">): number {
  return (endUs - sentUs) / 1_000;
}

/** Events that did not happen are 0 in the compact record of an exchange and `undefined` from here on. */
export function observationOf(
  exchange: LoadExchange,
  result: RequestOutcome,
  more: Pick<Observation, "phase" | "role" | "retryAfter" | "retryAfterWaitMs" | "exchange" | "flaw">,
): Observation {
  const { prepared, scanner } = exchange;
  return {
    ...more,
    dialect: prepared.dialect,
    stream: prepared.stream,
    key: prepared.key,
    outcome: result.outcome,
    what: result.what,
    status: happened(exchange.status),
    dueUs: exchange.dueUs,
    sentUs: exchange.sentUs === 0 ? exchange.endUs : exchange.sentUs,
    connectUs: happened(exchange.connectUs),
    headUs: happened(exchange.headUs),
    firstTokenUs: happened(exchange.firstTokenUs),
    endUs: exchange.endUs,
    longestGapUs: prepared.stream ? exchange.longestGapUs : undefined,
    tokens: scanner?.contentEvents,
  };
}

const happened = (value: number): number | undefined => (value === 0 ? undefined : value);

/** Ids of the recorded exchanges of some observations or counted kinds of them, limited to a few. */
export function exchangesOf(recorded: readonly { readonly exchange?: string | undefined }[]): string[] {
  return recorded.flatMap(({ exchange }) => exchange ?? []).slice(0, 5);
}

/** `3 500, 1 reset`. */
export function kindsText(observations: readonly Observation[]): string {
  const counts = new Map<string, number>();
  for (const { what } of observations) counts.set(what, (counts.get(what) ?? 0) + 1);
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

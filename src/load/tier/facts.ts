import type { Observation } from "../../judging/index.ts";
import type { LoadExchange } from "../http/load-exchange.ts";
import { type Came, isUnnamedLimit } from "../outcome.ts";

export const isAdmitted = ({ outcome }: Observation): boolean => outcome === "admitted" || outcome === "unfinished";

/** Roles of requests that are sent to meet the limit in flight: a 429 that they meet without a name is about that. */
const SLOT_ROLES: readonly string[] = ["wave", "extra", "beside", "busy", "again", "return"];

/** The limit that a denial is about: by its name, else by what the request was sent for. */
function limitOf(fact: Observation): "rate" | "slots" | undefined {
  const { outcome, what, status, role } = fact;
  if (outcome !== "denied") return undefined;
  if (what === "rate_limit_exceeded") return "rate";
  if (what === "concurrency_limit_exceeded") return "slots";
  if (!isUnnamedLimit(fact, status)) return undefined;
  return SLOT_ROLES.includes(role) ? "slots" : "rate";
}

export const isRateDenial = (fact: Observation): boolean => limitOf(fact) === "rate";
export const isSlotDenial = (fact: Observation): boolean => limitOf(fact) === "slots";
/** What we left on purpose is no failure. */
export const isFailure = ({ outcome, what }: Observation): boolean =>
  (outcome === "failed" || outcome === "unfinished") && what !== "aborted";

/** Role of requests that we left in the middle. */
export const LEFT = "left";
/** Roles of requests to the long model: what holds a slot for long is slow on purpose. */
const LONG_ROLES: readonly string[] = ["alone", "wave", "again", "beside", LEFT];
export const isLong = ({ role }: Observation): boolean => LONG_ROLES.includes(role);

/** What did not happen is 0 in the compact record of an exchange and `undefined` from here on. */
export function observationOf(
  exchange: LoadExchange,
  came: Came,
  more: Pick<Observation, "phase" | "role" | "retryAfter" | "retryAfterWaitMs" | "exchange" | "flaw">,
): Observation {
  const { shot, scanner } = exchange;
  return {
    ...more,
    dialect: shot.dialect,
    stream: shot.stream,
    key: shot.key,
    outcome: came.outcome,
    what: came.what,
    status: happened(exchange.status),
    dueUs: exchange.dueUs,
    sentUs: exchange.sentUs === 0 ? exchange.endUs : exchange.sentUs,
    connectUs: happened(exchange.connectUs),
    headUs: happened(exchange.headUs),
    firstTokenUs: happened(exchange.firstTokenUs),
    endUs: exchange.endUs,
    longestGapUs: shot.stream ? exchange.longestGapUs : undefined,
    tokens: scanner?.contentEvents,
  };
}

const happened = (value: number): number | undefined => (value === 0 ? undefined : value);

/** Ids of the recorded exchanges of some observations, a few of them. */
export function exchangesOf(facts: readonly Observation[]): string[] {
  return facts.flatMap(({ exchange }) => exchange ?? []).slice(0, 5);
}

/** `3 500, 1 reset`. */
export function tellWhats(facts: readonly Observation[]): string {
  const counts = new Map<string, number>();
  for (const { what } of facts) counts.set(what, (counts.get(what) ?? 0) + 1);
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

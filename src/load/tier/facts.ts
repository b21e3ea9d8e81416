import type { Dialect } from "../../dialects/index.ts";
import type { LoadExchange } from "../http/load-exchange.ts";
import { type Came, isUnnamedLimit, type LoadOutcome } from "../outcome.ts";

/** What a tier run keeps of each request. A tier run has a bounded number of them; bodies are not kept. */
export interface Fact {
  readonly phase: string;
  /** What the request was for inside its phase: `wave`, `extra`, `again`, … */
  readonly role: string;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly key: string;
  readonly outcome: LoadOutcome;
  readonly what: string;
  readonly status: number;
  /** Microseconds on the clock of `nowUs`. */
  readonly dueUs: number;
  readonly sentUs: number;
  /** Head of the answer; 0 when there was none. */
  readonly headUs: number;
  readonly firstTokenUs: number;
  readonly endUs: number;
  readonly longestGapUs: number;
  readonly tokens: number;
  /** The hint as sent, and the wait that it asks for, ms; `undefined` when absent or unusable. */
  readonly retryAfter: string | undefined;
  readonly retryAfterWaitMs: number | undefined;
  /** Exchange in the evidence, where it was kept. */
  readonly sample: string | undefined;
  /** What is wrong with the text of an echo. */
  readonly flaw: "crossed" | "incomplete" | undefined;
}

export const isAdmitted = ({ outcome }: Fact): boolean => outcome === "admitted" || outcome === "unfinished";

/** Roles of requests that are sent to meet the limit in flight: a 429 that they meet without a name is about that. */
const SLOT_ROLES: readonly string[] = ["wave", "extra", "beside", "busy", "again", "return"];

/** The limit that a denial is about: by its name, else by what the request was sent for. */
function limitOf(fact: Fact): "rate" | "slots" | undefined {
  const { outcome, what, status, role } = fact;
  if (outcome !== "denied") return undefined;
  if (what === "rate_limit_exceeded") return "rate";
  if (what === "concurrency_limit_exceeded") return "slots";
  if (!isUnnamedLimit(fact, status)) return undefined;
  return SLOT_ROLES.includes(role) ? "slots" : "rate";
}

export const isRateDenial = (fact: Fact): boolean => limitOf(fact) === "rate";
export const isSlotDenial = (fact: Fact): boolean => limitOf(fact) === "slots";
/** What we left on purpose is no failure. */
export const isFailure = ({ outcome, what }: Fact): boolean =>
  (outcome === "failed" || outcome === "unfinished") && what !== "aborted";

/** Role of requests that we left in the middle. */
export const LEFT = "left";
/** Roles of requests to the long model: what holds a slot for long is slow on purpose. */
const LONG_ROLES: readonly string[] = ["alone", "wave", "again", "beside", LEFT];
export const isLong = ({ role }: Fact): boolean => LONG_ROLES.includes(role);

export function factOf(
  exchange: LoadExchange,
  came: Came,
  more: Pick<Fact, "phase" | "role" | "retryAfter" | "retryAfterWaitMs" | "sample" | "flaw">,
): Fact {
  const { shot, scanner } = exchange;
  return {
    ...more,
    dialect: shot.dialect,
    stream: shot.stream,
    key: shot.key,
    outcome: came.outcome,
    what: came.what,
    status: exchange.status,
    dueUs: exchange.dueUs,
    sentUs: exchange.sentUs === 0 ? exchange.endUs : exchange.sentUs,
    headUs: exchange.headUs,
    firstTokenUs: exchange.firstTokenUs,
    endUs: exchange.endUs,
    longestGapUs: exchange.longestGapUs,
    tokens: scanner?.contentEvents ?? 0,
  };
}

/** Ids of the evidence of some facts, a few of them. */
export function samplesOf(facts: readonly Fact[]): string[] {
  return facts.flatMap(({ sample }) => (sample === undefined ? [] : [sample])).slice(0, 5);
}

/** `3 500, 1 reset`. */
export function tellWhats(facts: readonly Fact[]): string {
  const counts = new Map<string, number>();
  for (const { what } of facts) counts.set(what, (counts.get(what) ?? 0) + 1);
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

import type { Plan } from "../../checks/index.ts";
import { preflightOf } from "../../checks/index.ts";
import { formatCount, formatNumber } from "../../core/index.ts";
import { costOf, describeEventAction, type TierLength, type Workload } from "../../load/index.ts";
import type { Target } from "../../target/index.ts";

/** The most that one part of a command sends, as known before anything is sent. */
export interface PlanPart {
  readonly name: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly peakPerS?: number | undefined;
  readonly inFlight?: number | undefined;
  /** `undefined` if a number of requests ends it, not a time. */
  readonly durationS?: number | undefined;
}

/** The most that a command sends. It is printed before the first request, and the permit enforces it. */
export interface SendingPlan extends Omit<PlanPart, "name"> {
  readonly parts: readonly PlanPart[];
  /** What events of the workloads do to the gateway. */
  readonly events?: readonly PlannedEvent[];
}

export interface PlannedEvent {
  readonly name: string;
  /** Seconds from the start of the measurement. */
  readonly atS: number;
  /** In a few words. */
  readonly action: string;
  readonly after?: string;
  readonly durationS?: number;
}

/** The sum of parts. @param together whether they run concurrently, so that the longest determines the duration. */
export function sumOf(parts: readonly PlanPart[], together: boolean): SendingPlan {
  const sum = (pick: (part: PlanPart) => number) => parts.reduce((all, part) => all + pick(part), 0);
  const maxOf = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    if (known.length === 0) return undefined;
    return together ? known.reduce((all, value) => all + value, 0) : Math.max(...known);
  };
  const durations = parts.map(({ durationS }) => durationS).filter((duration) => duration !== undefined);
  return {
    parts,
    requests: sum(({ requests }) => requests),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    peakPerS: maxOf(parts.map(({ peakPerS }) => peakPerS)),
    inFlight: maxOf(parts.map(({ inFlight }) => inFlight)),
    durationS:
      durations.length < parts.length
        ? undefined
        : together
          ? Math.max(0, ...durations)
          : durations.reduce((all, duration) => all + duration, 0),
  };
}

/** The plan of plans that run one after another. */
export function inTurn(plans: readonly SendingPlan[]): SendingPlan {
  const whole = sumOf(
    plans.map((plan) => ({ ...plan, name: "" })),
    false,
  );
  return { ...whole, parts: plans.flatMap(({ parts }) => parts) };
}

/** The parts of loads that run concurrently. */
export function loadParts(
  target: Target,
  workloads: readonly Workload[],
  length: TierLength = "thorough",
): readonly PlanPart[] {
  return workloads.map((workload) => ({ name: workload.name, ...costOf(workload, target, length) }));
}

/** The plan of concurrent loads, including the requests that find their models if the target file names none. */
export function planOfLoads(target: Target, workloads: readonly Workload[], length: TierLength): SendingPlan {
  const events = eventsOf(workloads);
  const loads = { ...sumOf(loadParts(target, workloads, length), true), ...(events.length > 0 && { events }) };
  const open = modelRequests(target, workloads);
  return open === 0
    ? loads
    : { ...loads, requests: loads.requests + open, parts: [...loads.parts, requestsOnly("models", open)] };
}

function eventsOf(workloads: readonly Workload[]): PlannedEvent[] {
  return workloads.flatMap(({ events = [] }) =>
    events.map(({ name, atS, durationS, action, after }) => ({
      ...{ name, atS, action: describeEventAction(action) },
      ...(after && { after: describeEventAction(after) }),
      ...(durationS !== undefined && { durationS }),
    })),
  );
}

/** A part for which only the number of requests is known. */
export function requestsOnly(name: string, requests: number): PlanPart {
  return { name, requests, inputTokens: 0, outputTokens: 0, durationS: 0 };
}

/** Name of the part with the checks. */
const CHECKS = "checks";

/** The checks of a run. */
export function checkPart({ requests, inputTokens, outputTokens, durationS }: Plan, { budget }: Target): PlanPart {
  // An estimate. The actual tokens are counted, and the checks stop when the budget is used up.
  return {
    name: CHECKS,
    requests,
    inputTokens,
    outputTokens: Math.min(outputTokens, budget.outputTokens),
    durationS,
  };
}

/** Maximum number of requests that find models which neither the workloads nor the target file name. */
function modelRequests(target: Target, workloads: readonly Workload[]): number {
  const hasTier = workloads.some(({ tier }) => tier !== undefined);
  const isOpen = workloads.some(({ mix }) =>
    mix.some(({ dialect, model }) => model === undefined && target.models[dialect].plain === undefined),
  );
  const isNamed = target.models.chat.plain !== undefined || !target.dialects.includes("chat");
  if (target.source === "embedded" || (!hasTier && (!isOpen || isNamed))) return 0;
  const hasLong = target.dialects.some((dialect) => target.models[dialect].stream !== undefined);
  const isComplete = target.dialects.every((dialect) => target.models[dialect].plain !== undefined);
  return isComplete && !hasLong ? 0 : preflightOf(target);
}

/** A plan in one line. */
export function planText(target: Target, plan: SendingPlan): string {
  const { requests, outputTokens, peakPerS, inFlight, durationS, parts, events = [] } = plan;
  // For checks, the tokens are an estimate: the model determines how long its replies are.
  const isEstimate = parts.some(({ name }) => name === CHECKS);
  const bound = isEstimate ? "about" : "at most";
  const charge = (prices: NonNullable<Target["prices"]>) => chargeOf(plan, prices);
  const figures = [
    `at most ${formatCount(requests, "request")}`,
    ...(outputTokens === 0 ? [] : [`${bound} ${formatCount(outputTokens, "output token")}`]),
    ...(peakPerS === undefined ? [] : [`about ${formatNumber(peakPerS)} requests/s at the peak`]),
    ...(inFlight === undefined ? [] : [`up to ${formatNumber(inFlight)} in flight`]),
    ...(durationS === undefined || durationS === 0 ? [] : [`about ${formatNumber(durationS)} s`]),
    ...(target.prices === undefined ? [] : [`${bound} ${charge(target.prices)}`]),
  ];
  // Only the names of loads tell the reader something: the checks are the command itself.
  const loads = parts.filter(({ name }) => name !== CHECKS).length;
  const names = loads === 0 ? "" : ` (${parts.map(({ name }) => name).join(", ")})`;
  return [`plan for ${target.name}${names}: ${figures.join(", ")}`, ...events.map(eventLine)].join("\n");
}

/** `  event restart at 20 s: run ./restart.sh; undone after 10 s: run ./start.sh`. */
function eventLine({ name, atS, action, after, durationS }: PlannedEvent): string {
  const when = durationS === undefined ? "at the end" : `after ${formatNumber(durationS, 1)} s`;
  const undone = after === undefined ? "" : `; undone ${when}: ${after}`;
  return `  event ${name} at ${formatNumber(atS, 1)} s: ${action}${undone}`;
}

/** The cost of these tokens as text, rounded up to the cent. */
function chargeOf(
  { inputTokens, outputTokens }: Pick<PlanPart, "inputTokens" | "outputTokens">,
  { inputPerMTok, outputPerMTok, currency }: NonNullable<Target["prices"]>,
): string {
  const charge = (inputTokens * inputPerMTok + outputTokens * outputPerMTok) / 1_000_000;
  return `${(Math.ceil(charge * 100) / 100).toFixed(2)} ${currency}`;
}

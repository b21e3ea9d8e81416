import { ConfigError, member, UsageError } from "../core/index.ts";
import { costOf, type TierLength, type Workload } from "../load/index.ts";
import { isLoopback, type Target } from "../target/index.ts";

/**
 * Makes sure that this much may be sent to this host.
 *
 * @throws ConfigError when the host is not this machine and the target does not say `authorized: true`.
 * @throws UsageError when a budget that the target file names would be exceeded.
 */
export function assertAllowed(target: Target, workloads: readonly Workload[]): void {
  assertLoadAllowed(target);
  const cost = costsOf(target, workloads);
  const { requests, outputTokens: tokens } = writtenBudget(target);
  if (requests !== undefined && cost.requests > requests) {
    throw new UsageError(`the plan has ${cost.requests} requests, the budget of the target ${requests}`, {
      hint: "Raise budget.requests in the target file, or choose less load.",
    });
  }
  if (tokens !== undefined && cost.outputTokens > tokens) {
    throw new UsageError(
      `the plan may produce ${cost.outputTokens} output tokens, the budget of the target is ${tokens}`,
      {
        hint: "Raise budget.outputTokens in the target file, or choose less load.",
      },
    );
  }
}

/** What the target file allows, as far as it names a budget. */
export function writtenBudget({ configuration }: Target): Partial<Target["budget"]> {
  const written = member(configuration, "budget");
  const [requests, outputTokens] = [member(written, "requests"), member(written, "outputTokens")];
  return {
    ...(typeof requests === "number" ? { requests } : {}),
    ...(typeof outputTokens === "number" ? { outputTokens } : {}),
  };
}

/**
 * Most output tokens of one of some workloads that run side by side, where the target names a budget: each has the share that it
 * has of the plan. A plan is an estimate; what the gateway says in the end is not.
 */
export function tokensFor(workload: Workload, all: readonly Workload[], target: Target): number | undefined {
  const allowed = writtenBudget(target).outputTokens;
  if (allowed === undefined) return undefined;
  const planned = costsOf(target, all).outputTokens;
  return planned === 0 ? allowed : Math.ceil((allowed * costsOf(target, [workload]).outputTokens) / planned);
}

/** @throws ConfigError when the host is not this machine and the target does not say `authorized: true`. */
export function assertLoadAllowed(target: Target): void {
  if (!isLoopback(target.baseUrl) && !target.authorized) {
    throw new ConfigError([
      {
        file: target.source,
        path: "authorized",
        message: `load goes to ${new URL(target.baseUrl).host}, which is not this machine.`,
        hint: "Say `authorized: true` in the target file when you may load it.",
      },
    ]);
  }
}

/** What is about to be sent, as one line. */
export function planLine(target: Target, workloads: readonly Workload[], length: TierLength): string {
  const cost = costsOf(target, workloads, length);
  const parts = [
    `${cost.requests} requests at most`,
    `${cost.outputTokens} output tokens at most`,
    ...(cost.peakPerS === undefined ? [] : [`up to ${Math.round(cost.peakPerS)} per second`]),
    `up to ${cost.inFlight} in flight`,
    ...(cost.durationS === undefined ? [] : [`about ${Math.round(cost.durationS)} s`]),
    ...(target.prices === undefined ? [] : [`${chargeOf(cost, target.prices)} at most`]),
  ];
  return `plan for ${target.name} (${workloads.map(({ name }) => name).join(", ")}): ${parts.join(", ")}`;
}

/** What so many tokens cost, in words: to the cent, and never nothing for something. */
function chargeOf(
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  { inputPerMTok, outputPerMTok, currency }: NonNullable<Target["prices"]>,
): string {
  const charge = (inputTokens * inputPerMTok + outputTokens * outputPerMTok) / 1_000_000;
  return `${(Math.ceil(charge * 100) / 100).toFixed(2)} ${currency}`;
}

export function costsOf(target: Target, workloads: readonly Workload[], length: TierLength = "thorough") {
  const costs = workloads.map((workload) => costOf(workload, target, length));
  const sum = (pick: (cost: (typeof costs)[number]) => number) => costs.reduce((all, cost) => all + pick(cost), 0);
  const rates = costs.map(({ peakPerS }) => peakPerS).filter((rate) => rate !== undefined);
  const durations = costs.map(({ durationS }) => durationS).filter((duration) => duration !== undefined);
  return {
    requests: sum(({ requests }) => requests),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    inFlight: sum(({ inFlight }) => inFlight),
    peakPerS: rates.length === 0 ? undefined : rates.reduce((all, rate) => all + rate, 0),
    // Side by side: the longest decides.
    durationS: durations.length < costs.length ? undefined : Math.max(...durations),
  };
}

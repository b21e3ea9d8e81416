import type { Target } from "../../target/index.ts";
import type { Recordable } from "../response/recording.ts";
import type { Session } from "../runner/session.ts";
import type { Cost, Scenario } from "./check.ts";

/** A step's share of the scenario's budget. Only the sum is an upper bound: a step may exceed its share if another is skipped. */
interface StepCost {
  readonly requests?: number | ((target: Target) => number);
  /** Seconds that the specification makes it wait. */
  readonly waitS?: number;
}

interface NamedStep<S, R, N extends keyof R & string> {
  /** The part of the recording that the step fills with what it returns. */
  readonly name: N;
  readonly cost?: StepCost & {
    /** The cost in a quick run, if it differs. */
    readonly quick?: StepCost;
  };
  readonly onlyInFullRun?: true;
  /** Skipped unless this earlier step was taken and recorded something other than `null`. */
  readonly dependsOn?: keyof R & string;
  /** Further precondition: skipped if what earlier steps recorded leaves nothing to do. */
  when?(recording: R, shared: S): boolean;
  /** Sends, and returns what to record. */
  run(shared: S, recording: R): R[N] | Promise<R[N]>;
}

/**
 * One step of a scenario with the recording `R`. `S` is what the steps share and do not record: the session, the account,
 * requests that are still in flight.
 */
export type Step<S, R> = { readonly [N in keyof R & string]: NamedStep<S, R, N> }[keyof R & string];

interface Beginning<S, R> {
  readonly shared: S;
  /** The recording if no step is taken. */
  readonly recording: R;
}

/** A scenario as a list of steps. */
export interface StepScenario<S, R extends Recordable> extends Omit<Scenario<R>, "cost" | "run"> {
  begin(t: Session): Beginning<S, R> | Promise<Beginning<S, R>>;
  /** In the order in which they are taken. */
  readonly steps: readonly Step<S, R>[];
}

export function defineStepScenario<S, R extends Recordable>({
  begin,
  steps,
  ...scenario
}: StepScenario<S, R>): Scenario<R> {
  return {
    ...scenario,
    cost: costOf(steps),
    run: async (t) => takeSteps(steps, await begin(t), t.run.isQuick),
  };
}

/** Takes the steps one after the other and records what each returns; a skipped one leaves its part as it was. */
export async function takeSteps<S, R>(
  steps: readonly Step<S, R>[],
  { shared, recording }: Beginning<S, R>,
  isQuick: boolean,
): Promise<R> {
  const succeeded = new Set<string>();
  let recorded = recording;
  for (const step of steps) {
    if (isQuick && step.onlyInFullRun === true) continue;
    if (step.dependsOn !== undefined && !succeeded.has(step.dependsOn)) continue;
    if (step.when?.(recorded, shared) === false) continue;
    const result = await step.run(shared, recorded);
    if (result !== null) succeeded.add(step.name);
    recorded = { ...recorded, [step.name]: result };
  }
  return recorded;
}

/** The sum of the steps that each kind of run takes. */
export function costOf<S, R>(steps: readonly Step<S, R>[]): Cost {
  const full = steps.flatMap(({ cost }) => cost ?? []);
  const quick = steps.flatMap(({ cost, onlyInFullRun }) => (onlyInFullRun === true ? [] : (cost?.quick ?? cost ?? [])));
  return { ...sumOf(full), quick: sumOf(quick) };
}

function sumOf(costs: readonly StepCost[]): Pick<Cost, "requests" | "waitS"> {
  return {
    requests: (target) =>
      Math.ceil(
        costs.reduce(
          (sum, { requests = 0 }) => sum + (typeof requests === "function" ? requests(target) : requests),
          0,
        ),
      ),
    waitS: costs.reduce((sum, { waitS = 0 }) => sum + waitS, 0),
  };
}

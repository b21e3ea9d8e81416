import type { Dialect, Mode } from "../../dialects/index.ts";
import type { Verdict } from "../../judging/index.ts";
import {
  type AnyRequirement,
  type CustomRequirement,
  type Layer,
  type RequirementId,
  requirementOf,
} from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";
import type { Recordable } from "../response/recording.ts";
import type { Response } from "../response/response.ts";
import type { Session } from "../runner/session.ts";
import type { Axes } from "./axes.ts";
import type { CustomSuite } from "./custom-suite.ts";
import { assertDefinition } from "./definition.ts";
import { FAILING_MODELS, type Need } from "./need.ts";
import { ACCOUNTS_TO_REACH, type Reaches } from "./reaches.ts";
import type { RunKind, Schedule } from "./schedule.ts";

/** What an instance will send, for `--dry-run` and budgets. */
export interface Cost {
  /** Maximum number of requests per instance. For limit checks it depends on the target and the tier. */
  readonly requests: number | ((target: Target, axes: Axes) => number);
  /** Seconds that the specification makes it wait, e.g. for a rate window. */
  readonly waitS?: number;
  /** The cost in a quick run, if the check then skips steps. */
  readonly quick?: Omit<Cost, "quick" | "leftToLoad">;
  /** The check sends nothing if the run also loads the tiers. */
  readonly leftToLoad?: true;
}

/**
 * The dialect that a check is about. `any`: it is about something else, and if the target serves one dialect only, all its
 * requests use that one.
 */
export type DialectOfCheck = Dialect | "any";

interface Declaration {
  /** Suite and name; easy to find with a text search and never reused. */
  readonly id: `${string}.${string}`;
  /** What is required, as a sentence. */
  readonly title: string;
  /** Requirements that it covers: ids of built-in ones, and requirements made with `defineRequirement`. */
  readonly covers: readonly (RequirementId | CustomRequirement)[];
  /** How it decides, and what to do when it fails; the generated documentation and `gauntlet explain` print it. */
  readonly explains: string;
}

export interface CheckSpec<P extends Recordable> extends Declaration {
  readonly needs?: readonly Need[];
  readonly across?: {
    readonly dialect?: readonly Dialect[];
    readonly mode?: readonly Mode[];
    readonly case?: readonly string[];
  };
  /** Dialect of a check that is not run in both, or of each of its cases; default chat. */
  readonly dialect?: DialectOfCheck | ((axes: Axes) => DialectOfCheck);
  readonly schedule?: Schedule | ((target: Target) => Schedule);
  readonly cost: Cost;
  readonly reaches?: Reaches;
  /**
   * `timing`: it depends on what was in flight together, or in quick succession; if this process stalled, the result says
   * nothing.
   */
  readonly basis?: "timing";
  /** Sends and records; decides nothing. */
  run(t: Session): Promise<P>;
  /** Decides; a pure function of the recording. */
  judge(recording: P, verdict: Verdict, axes: Axes): void;
}

/** Traffic that several checks judge; sent once per run. */
export interface Scenario<R extends Recordable> {
  /** Suite and name, as for a check; unique among scenarios. */
  readonly id: `${string}.${string}`;
  readonly needs?: readonly Need[];
  readonly schedule?: Schedule | ((target: Target) => Schedule);
  readonly cost: Cost;
  readonly reaches?: Reaches;
  run(t: Session): Promise<R>;
  /** States the preconditions that all its checks share. */
  assume?(recording: R, verdict: Verdict): void;
}

export interface ScenarioCheckSpec<R extends Recordable> extends Declaration {
  readonly scenario: Scenario<R>;
  readonly basis?: "timing";
  /** What it needs in addition to the scenario's needs. */
  readonly needs?: readonly Need[];
  judge(recording: R, verdict: Verdict, axes: Axes): void;
}

export interface InvariantSpec extends Declaration {
  /** The state that it judges, such as an account with a rate limit; not applicable if the target declares that it has none. */
  readonly about?: Need;
  /** Dialect of the responses that it judges; default any. */
  readonly dialect?: DialectOfCheck;
  /** Whether it also receives the requests that were lost because the gateway stopped responding or serving a model. */
  readonly judgesStop?: boolean;
  /**
   * Whether it counts requests. If so, it also receives those that were aborted by a signal, or lost because the gateway stopped
   * responding: it may count these, but must judge only complete responses.
   */
  readonly countsRequests?: boolean;
  /** Judges the responses to everything that the run sent. Pure. */
  judge(responses: readonly Response[], verdict: Verdict): void;
}

/** What a defined check covers. */
interface Covering {
  /** Requirement ids. */
  readonly covers: readonly string[];
  readonly requirements: readonly AnyRequirement[];
  readonly layer: Layer;
}

/** A check that sends its own requests. */
export interface SendingCheck extends Omit<CheckSpec<Recordable>, "judge" | "covers">, Covering {
  readonly kind: "sending";
  /** Id of the scenario that it judges together with other checks. */
  readonly scenario?: string;
  /** Absent: a built-in check. */
  readonly customSuite?: CustomSuite;
  judge(recording: Recordable, verdict: Verdict, axes: Axes): void;
}

/** A check over the traffic of all others: what must hold for every response. */
export interface Invariant extends Omit<InvariantSpec, "covers">, Covering {
  readonly kind: "invariant";
  /** Absent: a built-in check. */
  readonly customSuite?: CustomSuite;
}

export type Check = SendingCheck | Invariant;

/** Declares a scenario that checks refer to. */
export function defineScenario<R extends Recordable>(scenario: Scenario<R>): Scenario<R> {
  return scenario;
}

/**
 * Declares a check. The type of the recording ties `run` and `judge` together and is erased afterwards.
 *
 * @throws TypeError if the definition does not fit its type.
 */
export function defineCheck<R extends Recordable>(spec: CheckSpec<R> | ScenarioCheckSpec<R>): SendingCheck {
  assertDefinition(spec, "check");
  const sending = "scenario" in spec ? onScenario(spec) : spec;
  return {
    ...sending,
    ...coveringOf(spec),
    kind: "sending",
    judge: (recording, verdict, axes) => sending.judge(recording as R, verdict, axes),
  };
}

/** A check that runs a scenario unless another check of the run has already run it. */
function onScenario<R extends Recordable>({
  scenario,
  needs = [],
  judge,
  ...declaration
}: ScenarioCheckSpec<R>): CheckSpec<R> & { readonly scenario: string } {
  return {
    ...declaration,
    scenario: scenario.id,
    needs: [...(scenario.needs ?? []), ...needs],
    schedule: scenario.schedule ?? {},
    cost: scenario.cost,
    ...(scenario.reaches !== undefined && { reaches: scenario.reaches }),
    run: (t) => t.scenarios.once(scenario.id, () => scenario.run(t)),
    judge(recording, verdict, axes) {
      scenario.assume?.(recording, verdict);
      judge(recording, verdict, axes);
    },
  };
}

/** @throws TypeError if the definition does not fit its type. */
export function defineInvariant(spec: InvariantSpec): Invariant {
  assertDefinition(spec, "invariant");
  return { ...spec, ...coveringOf(spec), kind: "invariant" };
}

const LAYERS = ["specification", "protocol", "compat", "custom"] as const;

/** Looks up the requirements. The layer of a check is the first of `LAYERS` that one of them has. */
function coveringOf({ id, covers }: Declaration): Covering {
  const requirements = covers.map((one) => (typeof one === "string" ? requirementOf(one) : one));
  const layer = LAYERS.find((candidate) => requirements.some((requirement) => requirement.layer === candidate));
  if (layer === undefined) throw new Error(`check ${id} covers no requirement`);
  return { covers: requirements.map((requirement) => requirement.id), requirements, layer };
}

/** How a check shares the gateway with others. A check that needs a failing model makes its provider fail. */
export function scheduleOf(
  { schedule = {}, needs = [] }: Pick<SendingCheck, "schedule" | "needs">,
  target: Target,
): Schedule {
  const declared = typeof schedule === "function" ? schedule(target) : schedule;
  return FAILING_MODELS.some((role) => needs.includes(`model.${role}`))
    ? { failsUpstream: true, ...declared }
    : declared;
}

/** Maximum number of requests of an instance. */
export function requestsOfCheck(
  { cost }: SendingCheck,
  { target, axes, run }: { readonly target: Target; readonly axes: Axes; readonly run: RunKind },
): number {
  if (run.includesLoad && cost.leftToLoad === true) return 0;
  const { requests } = costIn(cost, run);
  return typeof requests === "function" ? requests(target, axes) : requests;
}

/** How long the specification makes it wait, seconds. */
export function waitSOf(check: Check, run: RunKind): number {
  if (check.kind === "invariant" || (run.includesLoad && check.cost.leftToLoad === true)) return 0;
  return costIn(check.cost, run).waitS ?? 0;
}

function costIn(cost: Cost, { isQuick }: RunKind): Pick<Cost, "requests" | "waitS"> {
  return (isQuick ? cost.quick : undefined) ?? cost;
}

/** Lets checks use any funded account whose rate is high enough. */
export function onAnyAccount(checks: readonly Check[]): Check[] {
  return checks.map((check) =>
    check.kind === "sending"
      ? { ...check, schedule: (target) => ({ ...scheduleOf(check, target), account: "any" }) }
      : check,
  );
}

/** Sets the dialect of the checks that declare none. */
export function inDialect(dialect: DialectOfCheck, checks: readonly Check[]): Check[] {
  return checks.map((check) =>
    check.dialect !== undefined || (check.kind === "sending" && check.across?.dialect !== undefined)
      ? check
      : { ...check, dialect },
  );
}

export function suiteOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}

/** One instance of a check, as it is run, judged and reported. */
export interface Instance {
  /** `errors.key-revoked[messages,streaming]`. */
  readonly id: string;
  readonly check: Check;
  readonly axes: Axes;
}

/** The dialect that an instance is about. */
export function dialectOfCheck({ check, axes }: Pick<Instance, "check" | "axes">): DialectOfCheck {
  if (check.kind === "invariant") return check.dialect ?? "any";
  const declared = typeof check.dialect === "function" ? check.dialect(axes) : check.dialect;
  return axes.dialect ?? declared ?? "chat";
}

/** The default dialect of an instance's requests. */
export function dialectOf(instance: Pick<Instance, "check" | "axes">, { dialects }: Pick<Target, "dialects">): Dialect {
  const dialect = dialectOfCheck(instance);
  return dialect === "any" ? (dialects[0] ?? "chat") : dialect;
}

/** What an instance needs of a target: the states that its check names, and a dialect if the target does not serve it. */
export function needsOf(instance: Pick<Instance, "check" | "axes">, target: Pick<Target, "dialects">): readonly Need[] {
  const { check } = instance;
  const dialect = dialectOf(instance, target);
  const named = check.kind === "sending" ? namedNeeds(check) : [];
  return target.dialects.includes(dialect) ? named : [`dialect.${dialect}`, ...named];
}

/** The needs that a check names, and the account whose limit it reaches. */
function namedNeeds({ needs = [], reaches }: SendingCheck): readonly Need[] {
  const account = reaches === undefined ? undefined : ACCOUNTS_TO_REACH[reaches];
  return account === undefined || needs.some((need) => need.startsWith(account)) ? needs : [...needs, account];
}

/** All instances of a check, in a stable order. */
export function instancesOf(check: Check): Instance[] {
  if (check.kind === "invariant") return [{ id: check.id, check, axes: {} }];
  const { dialect, mode, case: cases } = check.across ?? {};
  let points: Axes[] = [{}];
  if (dialect !== undefined) points = points.flatMap((axes) => dialect.map((value) => ({ ...axes, dialect: value })));
  if (mode !== undefined) points = points.flatMap((axes) => mode.map((value) => ({ ...axes, mode: value })));
  if (cases !== undefined) points = points.flatMap((axes) => cases.map((value) => ({ ...axes, case: value })));
  return points.map((axes) => {
    const values = Object.values(axes);
    return { id: values.length === 0 ? check.id : `${check.id}[${values.join(",")}]`, check, axes };
  });
}

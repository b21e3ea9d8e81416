import type { Dialect, Mode } from "../dialects/index.ts";
import type { Verdict } from "../judging/index.ts";
import { type Layer, type RequirementId, requirementOf } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import type { Axes } from "./axes.ts";
import { FAILING_MODELS, type Need } from "./need.ts";
import { ACCOUNTS_TO_REACH, type Reaches } from "./reaches.ts";
import type { Recordable } from "./recording.ts";
import type { Response } from "./response.ts";
import type { Schedule } from "./schedule.ts";
import type { Session } from "./session.ts";

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

/** Properties of a run that change what its checks send. */
export interface RunKind {
  /** Scenarios skip the steps that wait. */
  readonly isQuick: boolean;
  /** The run also loads the tiers, in parallel with the checks or after them. */
  readonly loadFollows: boolean;
}

/**
 * The dialect that a check is about. `any`: it is about something else, and where the target serves one dialect only, all
 * that it sends goes in that one.
 */
export type DialectOfCheck = Dialect | "any";

interface Declaration {
  /** Suite and name; found with a plain text search and never given to anything else. */
  readonly id: `${string}.${string}`;
  /** What is demanded, as a sentence. */
  readonly title: string;
  /** Requirements that it covers; their levels come from `src/requirements`. */
  readonly covers: readonly RequirementId[];
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
  /** Dialect of a check that is not laid across both, or of each of its cases; default chat. */
  readonly dialect?: DialectOfCheck | ((axes: Axes) => DialectOfCheck);
  readonly schedule?: Schedule | ((target: Target) => Schedule);
  readonly cost: Cost;
  readonly reaches?: Reaches;
  /** `timing`: it rests on what was in flight together, or soon after each other; where this process stood still it says nothing. */
  readonly basis?: "timing";
  /** Sends and records; decides nothing. */
  run(t: Session): Promise<P>;
  /** Decides; a pure function of the recording. */
  judge(recording: P, verdict: Verdict, axes: Axes): void;
}

/** Traffic that several checks judge: sent once per run. */
export interface Scenario<R extends Recordable> {
  /** Suite and name, as for a check; no two scenarios have the same. */
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
  /** What it needs beyond the scenario's needs. */
  readonly needs?: readonly Need[];
  judge(recording: R, verdict: Verdict, axes: Axes): void;
}

export interface InvariantSpec extends Declaration {
  /** What a gateway must have for it to apply: where the target declares that there is none, it does not. */
  readonly about?: Need;
  /** Dialect whose answers it judges; default any. */
  readonly dialect?: DialectOfCheck;
  /** Whether it also gets the requests that were lost because the gateway stopped responding, or serving a model. */
  readonly judgesStop?: boolean;
  /** Decides over the answers to everything that the run sent. Pure. */
  judge(responses: readonly Response[], verdict: Verdict): void;
}

/** A check that sends requests of its own. */
export interface SendingCheck extends Omit<CheckSpec<Recordable>, "judge"> {
  readonly kind: "sending";
  readonly layer: Layer;
  /** Id of the scenario that it judges together with other checks. */
  readonly scenario?: string;
  judge(recording: Recordable, verdict: Verdict, axes: Axes): void;
}

/** A check that looks at the traffic of all others: what must hold of every answer. */
export interface Invariant extends InvariantSpec {
  readonly kind: "invariant";
  readonly layer: Layer;
}

export type Check = SendingCheck | Invariant;

/** Declares a scenario that checks name. */
export function defineScenario<R extends Recordable>(scenario: Scenario<R>): Scenario<R> {
  return scenario;
}

/** Declares a check. The recording's type ties run and judge together and is forgotten afterwards. */
export function defineCheck<R extends Recordable>(spec: CheckSpec<R> | ScenarioCheckSpec<R>): SendingCheck {
  const sending = "scenario" in spec ? onScenario(spec) : spec;
  return {
    ...sending,
    kind: "sending",
    layer: layerOf(spec),
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
    run: (t) => t.once(scenario.id, () => scenario.run(t)),
    judge(recording, verdict, axes) {
      scenario.assume?.(recording, verdict);
      judge(recording, verdict, axes);
    },
  };
}

export function defineInvariant(spec: InvariantSpec): Invariant {
  return { ...spec, kind: "invariant", layer: layerOf(spec) };
}

/** A check belongs to the layer of its first requirement: specification before protocol before compat. */
function layerOf({ id, covers }: Declaration): Layer {
  const layers = covers.map((requirement) => requirementOf(requirement).layer);
  const layer = (["specification", "protocol", "compat"] as const).find((candidate) => layers.includes(candidate));
  if (layer === undefined) throw new Error(`check ${id} covers no requirement`);
  return layer;
}

/** How a check shares a target's gateway with others. One that needs a model whose provider fails makes it fail. */
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
  if (run.loadFollows && cost.leftToLoad === true) return 0;
  const { requests } = costIn(cost, run);
  return typeof requests === "function" ? requests(target, axes) : requests;
}

/** How long it has to wait because of the specification, seconds. */
export function waitSOf(check: Check, run: RunKind): number {
  if (check.kind === "invariant" || (run.loadFollows && check.cost.leftToLoad === true)) return 0;
  return costIn(check.cost, run).waitS ?? 0;
}

function costIn(cost: Cost, { isQuick }: RunKind): Pick<Cost, "requests" | "waitS"> {
  return (isQuick ? cost.quick : undefined) ?? cost;
}

/** Lets checks use whichever funded account has room for them. */
export function onAnyAccount(checks: readonly Check[]): Check[] {
  return checks.map((check) =>
    check.kind === "sending"
      ? { ...check, schedule: (target) => ({ ...scheduleOf(check, target), account: "any" }) }
      : check,
  );
}

/** Declares the dialect of those of some checks that name none. */
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

/** One instance of a check: what is run, judged and reported. */
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

/** The dialect that an instance asks in where it says nothing else. */
export function dialectOf(instance: Pick<Instance, "check" | "axes">, { dialects }: Pick<Target, "dialects">): Dialect {
  const dialect = dialectOfCheck(instance);
  return dialect === "any" ? (dialects[0] ?? "chat") : dialect;
}

/** What an instance needs of a target: the states that its check names, and a dialect that the target does not serve. */
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

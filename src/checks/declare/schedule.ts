/** How a check shares the gateway with the others of a run. */
export interface Schedule {
  /**
   * - `parallel` (default): together with others.
   * - `background`: in parallel with all others, and ends with them.
   * - `exclusive`: nothing else of the run is in flight, because it uses up what others need, or measures time; after the
   *   others. `exclusive-first`: before them. `exclusive-last`: at the very end.
   */
  readonly order?: "parallel" | "background" | "exclusive" | "exclusive-first" | "exclusive-last";
  /**
   * Whether it makes providers fail, after which gateways may put them into cool-down: it runs after the others of `parallel`
   * or `exclusive`, and later checks wait until the models are served again.
   */
  readonly failsUpstream?: true;
  /** What it uses up or changes: checks with the same resource run one after another. */
  readonly resource?: string;
  /** `any`: works with any funded key, and uses an account whose rate is high enough. Default: the account of `valid`. */
  readonly account?: "any";
}

/** A full run of the checks, without load. */
export const FULL_RUN: RunKind = { isQuick: false, includesLoad: false };

/** Properties of a run that change what its checks send. */
export interface RunKind {
  /** Scenarios skip the steps that wait, for windows and for replies that take long. */
  readonly isQuick: boolean;
  /**
   * The run also loads the tiers, in parallel with the checks or after them: it measures what some checks could only guess.
   */
  readonly includesLoad: boolean;
}

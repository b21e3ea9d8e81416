/** How a check shares the gateway with the others of a run. */
export interface Schedule {
  /**
   * - `parallel` (default): together with others.
   * - `background`: in parallel with all others, and ends with them.
   * - `exclusive`: nothing else of the run is in flight, because it uses up what others need, or measures time; after
   *   the others. `exclusive-first`: before them. `exclusive-last`: at the very end.
   */
  readonly order?: "parallel" | "background" | "exclusive" | "exclusive-first" | "exclusive-last";
  /**
   * Whether it makes providers fail, after which gateways may leave them alone for a while: among `parallel` and
   * `exclusive` ones it comes after the others, and what follows waits until the models are served again.
   */
  readonly failsUpstream?: true;
  /** What it uses up or changes: checks of one resource run one after the other. */
  readonly resource?: string;
  /** `any`: every funded key shows it, and the account with room for it is taken. Default: the account of `valid`. */
  readonly account?: "any";
}

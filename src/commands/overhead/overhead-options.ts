/** The options of `gauntlet overhead`. */
export interface OverheadCommandOptions {
  /** Target files of the gateways. */
  readonly target: readonly string[];
  /** Base URL of the upstream that the gateways call. */
  readonly upstream?: string | undefined;
  /** Target file of the upstream. */
  readonly direct?: string | undefined;
  /** Command that starts the first gateway; it gets its upstream from GAUNTLET_UPSTREAM. */
  readonly start?: string | undefined;
  /** Process of the first gateway. */
  readonly pid?: number | undefined;
  readonly concurrency: string;
  readonly promptBytes: string;
  readonly dialect?: string | undefined;
  readonly rounds: number;
  readonly blockS: number;
  readonly frontier: boolean;
  readonly anyway: boolean;
  /** Path of a policy file, and of a baseline that replaces the one it names. */
  readonly policy?: string | undefined;
  readonly baseline?: string | undefined;
  readonly seed?: number | undefined;
  readonly out?: string | undefined;
}

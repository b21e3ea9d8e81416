/** The options of `gauntlet overhead`. */
export interface OverheadCommandOptions {
  /** Target files of the gateways. */
  readonly target: readonly string[];
  /** Base address of the upstream that the gateways call. */
  readonly upstream?: string | undefined;
  /** Target file of the upstream. */
  readonly direct?: string | undefined;
  /** Command that starts the first gateway; it finds its upstream in GAUNTLET_UPSTREAM. */
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
  /** Path of a policy file, and of a baseline in place of the one that it names. */
  readonly policy?: string | undefined;
  readonly baseline?: string | undefined;
  readonly seed?: number | undefined;
  readonly out?: string | undefined;
}

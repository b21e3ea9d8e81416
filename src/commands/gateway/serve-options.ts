/** The options of `gauntlet gateway`, as typed; durations in ms. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly "admin-port": number;
  readonly tier?: string | undefined;
  /** Requests per minute:requests in flight. */
  readonly limits?: string | undefined;
  readonly seed: number;
  readonly limiter: string;
  readonly burst?: number | undefined;
  readonly "tokens-per-minute"?: number | undefined;
  readonly "token-counts"?: string | undefined;
  readonly mutation: readonly string[];
  readonly variant: readonly string[];
  /** Path of a JSON file. */
  readonly keys?: string | undefined;
  /** Path of a SQLite file. */
  readonly data?: string | undefined;
  /** Path of a SQLite file that replicas share. */
  readonly shared?: string | undefined;
  /** Number of processes. */
  readonly replicas?: number | undefined;
  readonly pieces?: number | undefined;
  readonly pace?: number | undefined;
  readonly slow?: number | undefined;
  /** Also starts two providers of `gauntlet upstream`. */
  readonly "with-upstream": boolean;
  readonly upstream: readonly string[];
  /** References `env:NAME`, in the order of the providers. */
  readonly "upstream-key": readonly string[];
  readonly "upstream-timeout"?: number | undefined;
  readonly "settling-lag"?: number | undefined;
  readonly "body-limit"?: number | undefined;
  readonly drain?: number | undefined;
  /** Prints a line for each request. */
  readonly "log-requests": boolean;
}

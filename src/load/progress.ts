/** How far a load run is. */
export interface LoadProgress {
  /** Run, and its phase where it has several. */
  readonly what: string;
  readonly elapsedS: number;
  /** `undefined` when it ends by the number of requests. */
  readonly totalS: number | undefined;
  readonly inFlight: number;
}

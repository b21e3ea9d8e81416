import type { AskKind, Trial } from "./trial.ts";

/** What an experiment acts through: the real gateway, or in tests a limiter in simulated time. */
export interface Instrument {
  /** Monotonic, microseconds. */
  nowUs(): number;
  /** @returns false when the analysis is to stop. */
  wait(ms: number): Promise<boolean>;
  /** Sends one request; resolves with what the limiter said, `undefined` when the budget is used up. */
  ask(kind: AskKind): Promise<Trial | undefined>;
  /** Kinds besides the main one that this target can send. */
  readonly kinds: readonly AskKind[];
  /** Everything that was asked so far. */
  readonly trials: readonly Trial[];
  /** How far the moment of a decision may lie from a trial's, microseconds. */
  readonly slackUs: number;
  /** Wall clock minus monotonic clock, microseconds. */
  readonly wallOffsetUs: number;
  readonly left: { readonly requests: number; readonly ms: number };
}

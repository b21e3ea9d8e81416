import type { Decision, RequestKind } from "../../../limits/index.ts";

/** What an experiment acts through: the real gateway, or in tests a limiter in simulated time. */
export interface GatewayUnderTest {
  /** Monotonic, microseconds. */
  nowUs(): number;
  /** @returns false when the analysis is to stop. */
  wait(ms: number): Promise<boolean>;
  /** Sends one request; resolves with its decision, `undefined` when the budget is used up. */
  send(kind: RequestKind): Promise<Decision | undefined>;
  /** Kinds besides the main one that this target can send. */
  readonly kinds: readonly RequestKind[];
  /** Every decision so far. */
  readonly decisions: readonly Decision[];
  /** How far the real moment of a decision may lie from `atUs`, microseconds. */
  readonly slackUs: number;
  /** Wall clock minus monotonic clock, microseconds. */
  readonly wallOffsetUs: number;
  /** Fires some time after an interruption: what is analysed by then is reported. */
  readonly mustEnd: AbortSignal;
  readonly left: { readonly requests: number; readonly ms: number };
}

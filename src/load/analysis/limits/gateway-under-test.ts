import type { Decision, RequestKind } from "../../../limits/index.ts";

/** The interface between an experiment and the gateway, or in tests, a limiter in simulated time. */
export interface GatewayUnderTest {
  /** Monotonic, microseconds. */
  nowUs(): number;
  /** @returns false if the analysis should stop. */
  wait(ms: number): Promise<boolean>;
  /** Sends one request; resolves with its decision, or `undefined` if the budget is used up. */
  send(kind: RequestKind): Promise<Decision | undefined>;
  /** Kinds other than the main one that this target supports. */
  readonly kinds: readonly RequestKind[];
  /** All decisions so far. */
  readonly decisions: readonly Decision[];
  /** Maximum distance between the actual time of a decision and `atUs`, microseconds. */
  readonly slackUs: number;
  /** Wall clock minus monotonic clock, microseconds. */
  readonly wallOffsetUs: number;
  /** Fires some time after an interruption: the report contains what has been analysed by then. */
  readonly mustEnd: AbortSignal;
  readonly left: { readonly requests: number; readonly ms: number };
}

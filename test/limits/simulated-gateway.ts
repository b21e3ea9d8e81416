import { seededRandom } from "../../src/core/index.ts";
import type { Decision, RequestKind } from "../../src/limits/index.ts";
import type { GatewayUnderTest } from "../../src/load/analysis/limits/gateway-under-test.ts";
import { fixedWindow } from "../../src/reference-gateway/limiters/fixed-window.ts";
import { paced } from "../../src/reference-gateway/limiters/paced.ts";
import type { RateLimiter } from "../../src/reference-gateway/limiters/rate-limiter.ts";
import { slidingLog } from "../../src/reference-gateway/limiters/sliding-log.ts";
import { tokenBucket } from "../../src/reference-gateway/limiters/token-bucket.ts";

/** Limiters of the reference gateway, in simulated time. */
export const LIMITERS = {
  "sliding log": (rpm: number) => slidingLog(rpm),
  "fixed window from the first request": (rpm: number) => fixedWindow(rpm, START_US),
  "fixed window": (rpm: number) => fixedWindow(rpm, START_US - 23_400_000),
  "clock minute": (rpm: number) => fixedWindow(rpm, -WALL_OFFSET_US),
  "token bucket": (rpm: number) => tokenBucket(rpm),
  "half a bucket": (rpm: number) => tokenBucket(rpm, Math.ceil(rpm / 2)),
  "a tenth of a bucket": (rpm: number) => tokenBucket(rpm, Math.ceil(rpm / 10)),
  paced: (rpm: number) => paced(rpm),
  "paced loosely": (rpm: number) => paced(rpm, 1_000_000),
} satisfies Record<string, (rpm: number) => RateLimiter>;

/** The first moment of every simulation. */
export const START_US = 1_000_000_000;
const WALL_OFFSET_US = 1_761_000_012_345_678;

export interface SimulationOptions {
  readonly limiter: (rpm: number) => RateLimiter;
  readonly rpm: number;
  readonly seed: number;
  /** Maximum one-way delay to the gateway, microseconds; uniform from 0. */
  readonly jitterUs: number;
  /** One in this many requests is decided up to 150 ms late, as after a stall of the gateway. */
  readonly stallEvery?: number;
  readonly deniedCount?: boolean;
  /** Requests of the main account that the limiter admits and that then fail: their share, and which of them use up the rate. */
  readonly failing?: { readonly share: number; readonly count: "all" | "none" | "half" };
  readonly listingCounts?: boolean;
  /** Requests with a separate limiter. */
  readonly separate?: readonly RequestKind[];
  readonly requests?: number;
}

/** A gateway over a limiter: no sockets, no waiting. */
export class SimulatedGateway implements GatewayUnderTest {
  readonly decisions: Decision[] = [];
  readonly kinds: readonly RequestKind[] = ["key", "dialect", "model", "account", "listing"];
  readonly slackUs: number;
  readonly mustEnd = new AbortController().signal;
  readonly wallOffsetUs = WALL_OFFSET_US;
  readonly #options: SimulationOptions;
  readonly #random: () => number;
  readonly #limiters = new Map<string, RateLimiter>();
  #nowUs = START_US;
  #decidedUs = START_US;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.slackUs = options.jitterUs + 500;
  }

  get left() {
    return { requests: (this.#options.requests ?? 50_000) - this.decisions.length, ms: 600_000 };
  }

  get elapsedS(): number {
    return (this.#nowUs - START_US) / 1_000_000;
  }

  nowUs(): number {
    return this.#nowUs;
  }

  async wait(ms: number): Promise<boolean> {
    this.#nowUs += Math.max(0, ms) * 1_000 + this.#random() * 1_000;
    return true;
  }

  async send(kind: RequestKind): Promise<Decision | undefined> {
    if (this.left.requests <= 0) return undefined;
    const {
      jitterUs,
      rpm,
      limiter,
      deniedCount,
      listingCounts,
      failing,
      separate = [],
      stallEvery = Number.POSITIVE_INFINITY,
    } = this.#options;
    const sentUs = this.#nowUs;
    // Requests do not overtake each other on the way; their arrival times have jitter.
    const stallUs = this.#random() < 1 / stallEvery ? this.#random() * 150_000 : 0;
    this.#decidedUs = Math.max(this.#decidedUs, sentUs + this.#random() * jitterUs + stallUs);
    // A response is sent after the decision.
    this.#nowUs = Math.max(this.#nowUs, this.#decidedUs) + 300 + this.#random() * 400;
    const own = kind === "account" || separate.includes(kind) ? kind : "main";
    const found = this.#limiters.get(own) ?? limiter(rpm);
    this.#limiters.set(own, found);
    const free = kind === "listing" && listingCounts !== true;
    const admitted = free || found.waitUs(this.#decidedUs) <= 0;
    const fails = admitted && kind !== "account" && failing !== undefined && this.#random() < failing.share;
    const isCounted = fails
      ? failing.count === "all" || (failing.count === "half" && this.#random() < 0.5)
      : admitted || deniedCount === true;
    if (!free && isCounted) found.count(this.#decidedUs);
    const decision: Decision = {
      ordinal: this.decisions.length + 1,
      kind: kind,
      // As the analysis sees it: somewhere between the send and the response.
      atUs: (sentUs + this.#nowUs) / 2,
      slackUs: (this.#nowUs - sentUs) / 2,
      verdict: fails ? "failed" : admitted ? "admitted" : "rate",
    };
    this.decisions.push(decision);
    return decision;
  }
}

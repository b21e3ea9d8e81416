import { UsageError } from "../core/index.ts";
import type { Account, Target } from "../target/index.ts";
import type { Dialect, Mode } from "../wire/index.ts";
import type { Answer } from "./answer.ts";
import type { Ask } from "./ask.ts";
import type { Axes } from "./check.ts";
import type { Held, Traffic } from "./traffic.ts";

/** What a probe has in hand: its place on the axes, and the means to send. */
export class Probe {
  readonly dialect: Dialect;
  readonly mode: Mode;
  /** The further axis of the instance; empty when it has none. */
  readonly case: string;
  readonly #traffic: Traffic;

  constructor(traffic: Traffic, axes: Axes) {
    this.#traffic = traffic;
    this.dialect = axes.dialect ?? "chat";
    this.mode = axes.mode ?? "whole";
    this.case = axes.case ?? "";
  }

  get target(): Target {
    return this.#traffic.target;
  }

  /** Sends a request like any other client of the account: paced, and again once when something ambient stopped it. */
  ask(ask: Ask = {}): Promise<Answer> {
    return this.#traffic.ask(ask, { endpoint: this.dialect, mode: this.mode });
  }

  /** Sends at once and does not wait for the end. */
  begin(ask: Ask = {}): Held {
    return this.#traffic.begin(ask, { endpoint: this.dialect, mode: this.mode });
  }

  nonce(): string {
    return this.#traffic.nonce();
  }

  /** Waits in a way that an interrupted run ends. */
  wait(ms: number): Promise<void> {
    return this.#traffic.wait(ms);
  }

  random(): number {
    return this.#traffic.random();
  }

  /** Time base of the exchanges, µs. */
  nowUs(): number {
    return this.#traffic.recorder.nowUs();
  }

  /** An account set aside for limits: the one with the lowest rate, or with the fewest slots for its rate. */
  limited(kind: "rate" | "slots"): Account {
    const account = limitedFor(this.target, kind);
    if (account === undefined) throw new UsageError(`the target has no account set aside for ${kind}`);
    return account;
  }
}

/** At most this many requests are spent to reach a rate limit; a higher one is left to load runs. */
const REACHABLE_RPM = 400;

/**
 * Picks the account for a kind of limit check. For the rate: the lowest one that is in reach. For slots: one whose rate
 * is so far above its slots that the rate does not come first.
 */
export function limitedFor(target: Target, kind: "rate" | "slots"): Account | undefined {
  const accounts = [...target.limited].sort((a, b) => a.limits.rpm - b.limits.rpm);
  if (kind === "rate") return accounts.find(({ limits }) => limits.rpm <= REACHABLE_RPM);
  return accounts
    .filter(({ limits }) => limits.rpm >= limits.inFlight * 60)
    .sort((a, b) => a.limits.inFlight - b.limits.inFlight)[0];
}

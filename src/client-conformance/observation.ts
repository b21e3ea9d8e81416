import { groupBy } from "../core/index.ts";
import type { ScriptedAnswer, ScriptedRequest } from "../reference-gateway/index.ts";

/** One request of a client for a generation, as it arrived, and the response it got. */
export interface Attempt {
  /** Unique in a run of the harness; evidence is kept under it. */
  readonly id: string;
  readonly request: ScriptedRequest;
  /** The call that it belongs to: requests with the same model and the same conversation are attempts at one call. */
  readonly call: string;
  /** `undefined`: it was still open when the scenario was over. */
  readonly answer: ScriptedAnswer | undefined;
}

/** What came to the host that answers redirect to, and no key may come to. */
export interface ForeignRequest {
  readonly method: string;
  readonly url: string;
  /** Where the key stood: `header authorization`, `body`, …; `undefined` when it was nowhere. */
  readonly keyIn: string | undefined;
  readonly bodyBytes: number;
}

/** How a command came to its end. */
export interface CommandEnding {
  /**
   * - `itself`: it ended
   * - `watch`: it was stopped when the scenario had seen enough
   * - `limit`: it was stopped when the time limit of the operator was reached
   * - `attempts`: it was stopped when it had sent more attempts at one call than may be
   * - `flood`: it was stopped when it had sent more requests in all than the harness keeps
   * - `interrupted`: the harness was
   */
  readonly by: "itself" | "watch" | "limit" | "attempts" | "flood" | "interrupted";
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** The first MiB. */
  readonly stdout: string;
  /** The last 4,000 characters. */
  readonly stderr: string;
}

/** One run of the client's command in one scenario. */
export interface ClientRun {
  /** Requests that the scenario answered, in the order of their arrival. */
  readonly attempts: readonly Attempt[];
  /** All other requests: for the list of models, to unknown paths, or wrong in themselves. */
  readonly others: readonly Attempt[];
  readonly otherHost: readonly ForeignRequest[];
  /** Longest time by which the machine held up a timer of the harness meanwhile, milliseconds: it did so to the client, too. */
  readonly lagMs: number;
  readonly ending: CommandEnding;
}

/** @returns the attempts of each call, in order. */
export function callsOf({ attempts }: Pick<ClientRun, "attempts">): Attempt[][] {
  return [...groupBy(attempts, ({ call }) => call).values()];
}

export function headerOf({ request }: Pick<Attempt, "request">, name: string): string | undefined {
  return request.headers.find(([given]) => given.toLowerCase() === name)?.[1];
}

/** A header of the response to an attempt. */
export function responseHeader({ answer }: Pick<Attempt, "answer">, name: string): string | undefined {
  return answer?.headers.find(([given]) => given.toLowerCase() === name)?.[1];
}

/** Milliseconds from the first byte of an attempt's answer, or from its end where there was none, to the next attempt. */
export function gapMs(before: Attempt, next: Attempt): number {
  return next.request.atMs - (before.answer?.beganMs ?? before.answer?.endedMs ?? before.request.atMs);
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

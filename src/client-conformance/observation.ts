import { groupBy } from "../core/index.ts";
import type { ScriptedRequest, ScriptedResponse } from "../reference-gateway/index.ts";

/** One generation request from a client, as it arrived, and its response. */
export interface Attempt {
  /** Unique in a run of the harness; identifies the evidence. */
  readonly id: string;
  readonly request: ScriptedRequest;
  /** The call it belongs to: requests with the same model and conversation are attempts at one call. */
  readonly call: string;
  /** `undefined` if it was still open at the end of the scenario. */
  readonly response: ScriptedResponse | undefined;
}

/** A request to the redirect target, which must never receive a key. */
export interface ForeignRequest {
  readonly method: string;
  readonly url: string;
  /** Where the key was found: `header authorization`, `body`, …; `undefined` if it was not sent. */
  readonly keyIn: string | undefined;
  readonly bodyBytes: number;
}

/** How a command ended. */
export interface CommandEnding {
  /**
   * - `itself`: it exited
   * - `watch`: stopped because the scenario had seen enough
   * - `limit`: stopped at the operator's time limit
   * - `attempts`: stopped because it exceeded the maximum number of attempts at one call
   * - `flood`: stopped because it sent more requests in total than the harness keeps
   * - `interrupted`: the harness was interrupted
   */
  readonly by: "itself" | "watch" | "limit" | "attempts" | "flood" | "interrupted";
  /** `null` if a signal ended it. */
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
  /** Requests that the scenario responded to, in order of arrival. */
  readonly attempts: readonly Attempt[];
  /** All other requests: to list models, to unknown paths, or malformed. */
  readonly others: readonly Attempt[];
  readonly otherHost: readonly ForeignRequest[];
  /**
   * Longest delay of a timer in the harness during the run, milliseconds: the client shares the machine and was delayed as well.
   */
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

export function responseHeader({ response }: Pick<Attempt, "response">, name: string): string | undefined {
  return response?.headers.find(([given]) => given.toLowerCase() === name)?.[1];
}

/** Milliseconds from the first byte of an attempt's response (or from its end if there was none) to the next attempt. */
export function gapMs(before: Attempt, next: Attempt): number {
  return next.request.atMs - (before.response?.beganMs ?? before.response?.endedMs ?? before.request.atMs);
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

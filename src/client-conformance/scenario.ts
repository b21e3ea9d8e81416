import type { Verdict } from "../judging/index.ts";
import type { ScriptedRequest, Turn } from "../reference-gateway/index.ts";
import type { RequirementId } from "../requirements/index.ts";
import type { ClientRun } from "./observation.ts";

/** What a scripted gateway knows when it decides how to respond to an attempt. */
export interface Scene {
  /** Earlier attempts at the same call. */
  readonly before: number;
  /** Attempts being served at the moment. */
  readonly serving: number;
  /** Address on another host, as a redirect target. */
  readonly otherHost: string;
}

/** Limits of the judgement; the specification leaves them open (RETRY-11). */
export interface Bounds {
  /** More attempts at one call than this count as unbounded. */
  readonly mostAttempts: number;
}

/** A situation for a client, and how its behaviour is judged. */
export interface Scenario {
  /** Stable: `rate-seconds`. */
  readonly name: string;
  /** What a conformant client does, as a sentence. */
  readonly title: string;
  readonly requirements: readonly RequirementId[];
  /** Concurrent calls that the command has to make, each with a different prompt. Default: 1. */
  readonly calls?: number;
  /** The command has to make a streaming call. Default: no. */
  readonly stream?: true;
  /** Timeout in seconds that the command is given for a request. Default: 30. */
  readonly timeoutS?: number;
  /** How many copies of the command run concurrently, each with a separate gateway. Default: 1. */
  readonly copies?: number;
  /**
   * The command is stopped this long after its first attempt, milliseconds: by then everything has been seen. Default: not
   * stopped.
   */
  readonly watchMs?: number;
  /** What the message of a pass states: what was found, or (default) when each attempt was sent. */
  readonly passMessage?: "findings";
  turn(request: ScriptedRequest, scene: Scene): Turn;
  /** Every run has at least one attempt. */
  judge(runs: readonly ClientRun[], verdict: Verdict, bounds: Bounds): void;
}

/** An ordinary reply. */
export const SERVE: Turn = { do: "serve", text: "Served by the scripted gateway." };

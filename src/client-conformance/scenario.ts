import type { Verdict } from "../judging/index.ts";
import type { ScriptedRequest, Turn } from "../reference-gateway/index.ts";
import type { RequirementId } from "../requirements/index.ts";
import type { ClientRun } from "./observation.ts";

/** What a scripted gateway knows when it decides about an attempt. */
export interface Scene {
  /** Attempts at the same call before this one. */
  readonly before: number;
  /** Attempts that are being served at the moment. */
  readonly serving: number;
  /** Address at another host, to redirect to. */
  readonly otherHost: string;
}

/** Bounds of the judgement; the specification leaves them open (RETRY-11). */
export interface Bounds {
  /** More attempts at one call than this are not bounded. */
  readonly mostAttempts: number;
}

/** A situation that a client is put into, and how its behaviour there is judged. */
export interface Scenario {
  /** Stable: `rate-seconds`. */
  readonly name: string;
  /** What a sound client does, as a sentence. */
  readonly title: string;
  readonly requirements: readonly RequirementId[];
  /** Calls that the command is asked to make at the same time, each with a prompt of its own. Default: 1. */
  readonly calls?: number;
  /** The command is asked for a streamed call. Default: no. */
  readonly stream?: true;
  /** Seconds after which the command is asked to give a request up. Default: 30. */
  readonly giveUpS?: number;
  /** How often the command is run, side by side, each with a gateway of its own. Default: 1. */
  readonly copies?: number;
  /** The command is stopped so long after its first attempt, milliseconds: all has been seen. Default: it is not. */
  readonly watchMs?: number;
  /** What the message of a pass says: what was found, or (default) when each attempt was sent. */
  readonly passMessage?: "findings";
  turn(request: ScriptedRequest, scene: Scene): Turn;
  /** Every run holds at least one attempt. */
  judge(runs: readonly ClientRun[], verdict: Verdict, bounds: Bounds): void;
}

/** A reply without anything special about it. */
export const SERVE: Turn = { do: "serve", text: "Served by the scripted gateway." };

import type { State } from "../target/index.ts";

/** Something that must exist before a check can say anything true. */
export type Need =
  | State
  /** The target wants the dialect's real clients to be able to use it (`compat`). */
  | "compat.chat"
  | "compat.messages"
  /** A gateway whose clock the harness may shift; only the embedded one. */
  | "clock";

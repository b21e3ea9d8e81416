import type { Dialect, Mode } from "../../dialects/index.ts";

/** Coordinates of one instance of a check. */
export interface Axes {
  readonly dialect?: Dialect;
  readonly mode?: Mode;
  /** Any further case, e.g. which credential is malformed, and how. */
  readonly case?: string;
}

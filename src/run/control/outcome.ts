import type pc from "picocolors";
import type { StorageError } from "../../core/index.ts";

/** Colors of a terminal, or none. */
export type Colors = ReturnType<typeof pc.createColors>;

/** How a use case ended, for its caller to print. */
export interface Outcome {
  readonly exitCode: number;
  /** One JSON document; absent if there is no JSON output. */
  readonly document?: object;
  /** The same for the terminal; ends with a line break, or is empty. */
  readonly text: (colors: Colors) => string;
  /** Why something could not be written: printed after the outcome, and determines the exit code. */
  readonly ioError?: StorageError | undefined;
}

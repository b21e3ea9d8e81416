import type pc from "picocolors";
import type { StorageError } from "../core/index.ts";

/** Colors of a terminal, or none. */
export type Colors = ReturnType<typeof pc.createColors>;

/** How a use case ended, for its caller to print. */
export interface Outcome {
  readonly exitCode: number;
  /** One JSON document; absent where there is nothing to print as JSON. */
  readonly document?: object;
  /** The same for a person; ends with a line break, or is empty. */
  readonly text: (colors: Colors) => string;
  /** Why something could not be kept: printed after the outcome, and its exit code counts. */
  readonly ioError?: StorageError | undefined;
}

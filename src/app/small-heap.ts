import { setFlagsFromString } from "node:v8";
import { onAbort } from "../core/index.ts";

/**
 * Lets V8 collect garbage sooner instead of letting the heap grow: a conformance run on the embedded gateway then needs 180 MiB in
 * place of 247, and no more time. Not for load, where compiled code has to be quick; nor for the end of an interrupted run, of which
 * the collections would take half.
 *
 * @returns what ends it; the caller disposes of it.
 */
export function keepHeapSmall(interrupted: AbortSignal): Disposable {
  setFlagsFromString("--optimize-for-size");
  return onAbort(interrupted, () => setFlagsFromString("--no-optimize-for-size"));
}

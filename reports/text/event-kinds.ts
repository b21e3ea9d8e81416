import type { EventFigures } from "../../src/record/index.ts";

/** Maximum number of kinds that are listed. */
const MAX_KINDS = 6;

/** `12 unreachable, 3 cut stream (streams)`: requests around an event by what happened to them. */
export function describeKinds(kinds: EventFigures["kinds"]): string {
  const shown = kinds
    .slice(0, MAX_KINDS)
    .map(({ what, count, stream }) => `${count} ${what}${stream ? " (streams)" : ""}`);
  return `${shown.join(", ")}${kinds.length > MAX_KINDS ? ", …" : ""}`;
}

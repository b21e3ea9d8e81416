import pc from "picocolors";
import type { Colors } from "../run/control/index.ts";

/** Colour only on a terminal, and never against NO_COLOR. */
export function colorsFor(stream: NodeJS.WriteStream): Colors {
  return pc.createColors(pc.isColorSupported && stream.isTTY === true);
}

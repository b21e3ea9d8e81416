import pc from "picocolors";

/** Colour only where somebody sees it, and never against NO_COLOR. */
export function colorsFor(stream: NodeJS.WriteStream): ReturnType<typeof pc.createColors> {
  return pc.createColors(pc.isColorSupported && stream.isTTY === true);
}

import type { Colors } from "../../run/control/index.ts";

/** One finding of doctor. */
export interface Symptom {
  readonly about: string;
  readonly level: "good" | "note" | "bad";
  readonly text: string;
  /** The setting at fault, as a path in the target file. Symptoms with the same cause count as one problem; one without a cause counts separately. */
  readonly cause?: string | undefined;
  /** Nothing in the target file can fix it: the gateway fails, or this machine is not ready. */
  readonly isOutsideFile?: true;
  readonly next?: string | undefined;
}

const SIGNS = { good: "✓", note: "▲", bad: "✗" } as const;

/** A symptom for the terminal. Parts come from the gateway: control characters are replaced. */
export function symptomText({ about, level, text, next }: Symptom, colors: Colors): string {
  const paint = { good: colors.green, note: colors.yellow, bad: colors.red }[level];
  const said = `${about}: ${text}`.replace(/\p{Cc}+/gu, " ");
  const hint = next === undefined ? "" : `\n    ${next.replace(/[^\P{Cc}\n]+/gu, " ").replaceAll("\n", "\n    ")}`;
  return `${paint(SIGNS[level])} ${said}${hint}\n`;
}

import { formatCount, formatNumber } from "../../core/index.ts";
import type { ProgressEvent } from "../../run/control/index.ts";

export type LoadProgress = Extract<ProgressEvent, { readonly kind: "load" }>["progress"];

/** The end of a truncated line. */
const CUT = "…";

/** `43 s`, `1 min 10 s`, `2 h 5 min`: rounded up, so that nothing takes longer than announced. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** What a load waits for: the end of its schedule, or after that its last responses. */
export function loadLeft(seconds: number, inFlight: number): string[] {
  if (seconds > 0) return [`${duration(seconds)} left`];
  return inFlight === 0 ? [] : [`waiting for ${formatCount(inFlight, "response")}`];
}

/**
 * `E2E p50 12 ms`, or `E2E p50 12 ms (non-streaming 9 ms)`: if both modes have been admitted, the first is that of streams. No p99: of
 * the few requests of one second, it is the slowest one, and the table at the end may have to omit it.
 */
export function e2eMedian({ responseByModeMs, admittedPerS }: LoadProgress): string[] {
  // While no requests are admitted, the median would be that of earlier seconds.
  if (admittedPerS === 0) return [];
  const { streaming, nonStreaming } = responseByModeMs ?? {};
  const text = (ms: number | undefined) => (ms === undefined ? undefined : `${formatNumber(ms)} ms`);
  const [ofStreams, ofOthers] = [text(streaming?.p50), text(nonStreaming?.p50)];
  if (ofStreams !== undefined && ofOthers !== undefined) return [`E2E p50 ${ofStreams} (non-streaming ${ofOthers})`];
  const only = ofStreams ?? ofOthers;
  return only === undefined ? [] : [`E2E p50 ${only}`];
}

/** Shortens a text to a width, at a space if possible. */
export function shorten(text: string, columns: number): string {
  if (text.length <= columns) return text;
  const room = text.slice(0, Math.max(1, columns - CUT.length));
  const space = room.lastIndexOf(" ");
  return `${space > 0 ? room.slice(0, space) : room}${CUT}`;
}

/**
 * One line with a head and as many parts as fit, most important first. A part that does not fit is omitted; only the first one
 * is shortened.
 */
export function fitLine(head: string, parts: readonly string[], columns: number): string {
  const [first = "", ...others] = parts;
  let line = shorten(`${head}  ${first}`, columns);
  for (const part of others) if (`${line}, ${part}`.length <= columns) line += `, ${part}`;
  return line;
}

/** Wraps a text at spaces; a word that is longer than a line stays whole, and the terminal breaks it. */
export function wrap(text: string, columns: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line === "") line = lines.length === 0 ? word : indent + word;
    else if (`${line} ${word}`.length <= columns) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join("\n");
}

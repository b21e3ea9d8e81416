import type { RunVerdict, Status } from "../src/record/index.ts";

/** A sign for each status, so that colour is never the only cue. */
export const SIGNS: Readonly<Record<Status, string>> = {
  "harness-error": "!",
  fail: "✗",
  flaky: "≈",
  blocked: "▣",
  inconclusive: "?",
  warn: "▲",
  pass: "✓",
  observed: "·",
  "not-applicable": "–",
};

/** Colour family of a status; mapped by the style sheet and the terminal. */
export type Tone = "good" | "bad" | "caution" | "held" | "quiet";

export const TONES: Readonly<Record<Status, Tone>> = {
  "harness-error": "bad",
  fail: "bad",
  flaky: "bad",
  blocked: "held",
  inconclusive: "held",
  warn: "caution",
  pass: "good",
  observed: "quiet",
  "not-applicable": "quiet",
};

export const VERDICT_TONES: Readonly<Record<RunVerdict["result"], Tone>> = {
  pass: "good",
  fail: "bad",
  error: "bad",
  inconclusive: "held",
};

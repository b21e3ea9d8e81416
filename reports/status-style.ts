import type { ProfileResult, RequirementResult, RunVerdict, Status } from "../src/record/index.ts";

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

/** How a result is shown: never by colour alone. */
export interface Mark {
  readonly sign: string;
  readonly tone: Tone;
  readonly word: string;
}

export const PROFILE_MARKS: Readonly<Record<ProfileResult["result"], Mark>> = {
  conformant: { sign: "✓", tone: "good", word: "conformant" },
  "not-conformant": { sign: "✗", tone: "bad", word: "not conformant" },
  partial: { sign: "◐", tone: "held", word: "partial" },
  "not-claimed": { sign: "–", tone: "quiet", word: "not claimed" },
};

export const REQUIREMENT_MARKS: Readonly<Record<RequirementResult["result"], Mark>> = {
  met: { sign: "✓", tone: "good", word: "met" },
  broken: { sign: "✗", tone: "bad", word: "violated" },
  waived: { sign: "▲", tone: "caution", word: "waived" },
  undecided: { sign: "?", tone: "held", word: "undecided" },
  blocked: { sign: "▣", tone: "held", word: "blocked" },
  skipped: { sign: "–", tone: "quiet", word: "skipped" },
  "not-judged": { sign: "–", tone: "quiet", word: "not judged" },
  "not-applicable": { sign: "·", tone: "quiet", word: "not applicable" },
};

/** What a phase of a tier run must decide to pass, by name of the finding. An undecided question makes it inconclusive. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  "warm-up": ["service.admitted"],
  "at-concurrency-limit": [
    "service.admitted",
    "concurrency.exceeded",
    "concurrency.denied-early",
    "concurrency.not-enforced",
  ],
  "concurrency-release": ["service.admitted", "concurrency.leaked"],
  "at-rate-limit": ["service.admitted", "rate.denied-below-limit", "concurrency.denied-below-limit"],
  "over-rate-limit": ["service.admitted", "rate.not-enforced", "rate.exceeded"],
  recovery: ["service.admitted", "recovery.served", "retry-after.sufficient", "concurrency.leaked", "client.rules"],
};

/** What only a run that reacts to each response can find out. */
const ADAPTIVE: Readonly<Record<string, readonly string[]>> = {
  "at-concurrency-limit": ["retry-after.concurrency-sufficient"],
};

/** @param adaptive false if another engine executes a fixed schedule. */
export function questionsOf(phase: string, adaptive: boolean): readonly string[] {
  return [...(QUESTIONS[phase] ?? []), ...(adaptive ? (ADAPTIVE[phase] ?? []) : [])];
}

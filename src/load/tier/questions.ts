/** What a phase of a tier run must decide to pass, by name of the finding. A question that stays open makes it inconclusive. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  "warm-up": ["service.admitted"],
  "full-house": ["service.admitted", "slots.exceeded", "slots.denied-early", "slots.not-enforced"],
  "freed-slots": ["service.admitted", "slots.leaked"],
  "at-the-limit": ["service.admitted", "rate.denied-below-limit", "slots.denied-below-limit"],
  "over-the-limit": ["service.admitted", "rate.not-enforced", "rate.exceeded"],
  recovery: ["service.admitted", "recovery.served", "retry-after.sufficient", "slots.leaked", "client.rules"],
};

/** What only a run that looks at each answer before it sends on can find out. */
const ADAPTIVE: Readonly<Record<string, readonly string[]>> = {
  "full-house": ["retry-after.slots-sufficient"],
};

/** @param adaptive false where another engine plays a schedule that was fixed before. */
export function questionsOf(phase: string, adaptive: boolean): readonly string[] {
  return [...(QUESTIONS[phase] ?? []), ...(adaptive ? (ADAPTIVE[phase] ?? []) : [])];
}

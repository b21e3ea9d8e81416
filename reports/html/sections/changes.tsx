import type { RunRecord } from "../../../src/record/index.ts";
import { Section } from "../parts.tsx";

/** What is different from the run that this one is held against. */
export function ChangesSection(_: { readonly record: RunRecord }) {
  return (
    <Section id="changes" title="What changed" finding="No baseline was given, so nothing is said about change." />
  );
}

import type { RunRecord } from "../../../src/record/index.ts";
import { decimal, plural } from "../format.ts";
import { DataTable, Section } from "../parts.tsx";

const WORDS: Readonly<Record<string, string>> = {
  observed: "the harness saw it come about",
  embedded: "made by the reference gateway, which is asked before it is judged",
  hook: "the provisioning hook says so",
  asserted: "the operator says so",
};

/** Whether what follows can be believed. */
export function BeliefSection({ record }: { readonly record: RunRecord }) {
  const states = new Map<string, { by: Set<string>; checks: number }>();
  for (const { attestations } of record.checks) {
    for (const { state, by } of attestations) {
      const entry = states.get(state) ?? { by: new Set<string>(), checks: 0 };
      entry.by.add(by);
      entry.checks++;
      states.set(state, entry);
    }
  }
  const asserted = [...states].filter(([, { by }]) => by.has("asserted") || by.has("hook")).length;
  const finding = record.complete
    ? asserted === 0
      ? `The run was finished, and every state that was judged was seen or made by the harness.`
      : `The run was finished; ${plural(asserted, "state rests", "states rest")} on somebody's word, not on what was seen.`
    : "The run was cut short. What stands here is true as far as it goes, and it does not go far enough for a pass.";
  return (
    <Section id="belief" title="Can it be believed?" finding={finding}>
      <p>
        Verdicts rest on {plural(record.traffic.requests, "recorded exchange")}, first answers only.{" "}
        {record.traffic.note}
      </p>
      {states.size === 0 ? null : (
        <details>
          <summary>How the {decimal(states.size)} states came about</summary>
          <DataTable
            caption="States and who vouches for them"
            quietCaption
            head={["State", "Vouched for by", { value: "Checks", number: true }]}
            rows={[...states].map(([state, { by, checks }]) => [
              <code key={state}>{state}</code>,
              [...by].map((name) => WORDS[name] ?? name).join("; "),
              decimal(checks),
            ])}
          />
        </details>
      )}
    </Section>
  );
}

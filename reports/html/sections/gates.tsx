import type { Gate, RunRecord, Status } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { decimal, plural } from "../format.ts";
import { DataTable, Foreign, numbers, Section, Sentence, StatusMark } from "../parts.tsx";

const STATUS: Readonly<Record<Gate["outcome"], Status>> = {
  pass: "pass",
  fail: "fail",
  inconclusive: "inconclusive",
  off: "not-applicable",
};

/** The gates of the policy, those that affected the verdict first. */
export function Gates({ record }: { readonly record: RunRecord }) {
  const { policy } = record;
  if (policy === undefined) return null;
  const order = ["fail", "inconclusive", "pass", "off"];
  const gates = [...policy.gates].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
  return (
    <Section id="gates" title="Gates of the policy" finding={sentence(gates)}>
      <p>
        From <Foreign text={oneLine(policy.source, 200)} />. {baselineSentence(policy.baseline)}
        {policy.confirmed
          ? " Failed performance gates were measured once more; a gate fails only when it failed twice."
          : ""}
      </p>
      <DataTable
        caption="Gates of the policy"
        quietCaption
        head={["Gate", "Outcome", "Level", "Result", ...numbers("Samples")]}
        rows={gates.map((gate) => [
          <code key="gate">{oneLine(gate.gate, 200)}</code>,
          <StatusMark key="outcome" status={STATUS[gate.outcome]} label={gate.outcome} />,
          gate.level,
          <Sentence key="message" text={oneLine(gate.message)} />,
          gate.samples === null ? "" : String(gate.samples),
        ])}
      />
    </Section>
  );
}

function sentence(gates: readonly Gate[]): string {
  const count = (outcome: Gate["outcome"]) => gates.filter((gate) => gate.outcome === outcome).length;
  const parts = [
    `${decimal(count("pass"))} of ${plural(gates.length, "gate")} met`,
    count("fail") === 0 ? "" : `${decimal(count("fail"))} failed`,
    count("inconclusive") === 0 ? "" : `${decimal(count("inconclusive"))} could not be decided`,
    count("off") === 0 ? "" : `${decimal(count("off"))} switched off`,
  ];
  return `${parts.filter((part) => part !== "").join(", ")}.`;
}

function baselineSentence(baseline: NonNullable<RunRecord["policy"]>["baseline"]): string {
  if (baseline === null) return "";
  switch (baseline.state) {
    case "missing":
      return `The baseline ${oneLine(baseline.source, 100)} does not exist.`;
    case "other-machine":
      return `The baseline ${oneLine(baseline.source, 100)} was accepted on another machine; its figures are not comparable.`;
    case "same":
      return `Baseline: ${oneLine(baseline.source, 100)}.`;
  }
}

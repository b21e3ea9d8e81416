import type { LoadRun, RunRecord } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { sideOf } from "../../coverage.ts";
import { startedLoads } from "../../figures/started-loads.ts";
import { bytes, decimal, enumerate, percent, plural } from "../format.ts";
import { DataTable, Foreign, numbers, Section, StatusMark } from "../parts.tsx";

const WORDS: Readonly<Record<string, string>> = {
  observed: "observed by Gauntlet during the run",
  embedded: "created by the reference gateway, and verified before the check",
  hook: "declared by the provisioning hook",
  asserted: "declared in the target file",
};

/** Whether the generator and the sample sizes support the figures that follow. */
export function DataQualitySection({ record }: { readonly record: RunRecord }) {
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
      ? "The run completed. Every precondition was created or observed by Gauntlet."
      : `The run completed. ${plural(asserted, "precondition was", "preconditions were")} declared, not observed.`
    : "The run was interrupted. The results below are valid, but they are not enough for a pass.";
  const runs = startedLoads(record);
  const late = runs.filter(({ generator }) => !generator.valid).map(({ name }) => oneLine(name, 40));
  const generator =
    runs.length === 0
      ? ""
      : late.length === 0
        ? " The generator stayed within its bounds."
        : ` In ${enumerate(late)} the load generator was late: the timing there is not judged.`;
  return (
    <Section id="data-quality" title="Data quality" finding={`${finding}${generator}`}>
      <p>
        Verdicts are based on {plural(record.traffic.requests, "recorded exchange")}
        {sideOf(record) === "gateway" ? "; only first responses count, never retries" : ", in order of arrival"}.{" "}
        {record.traffic.note}
      </p>
      {runs.length === 0 ? null : <Generators runs={runs} />}
      {states.size === 0 ? null : (
        <details>
          <summary>Origin of {plural(states.size, "state")}</summary>
          <DataTable
            caption="States and their sources"
            quietCaption
            head={["State", "Source", ...numbers("Checks")]}
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

/** Self-reported data quality of the generators; shown before any other number. */
function Generators({ runs }: { readonly runs: readonly LoadRun[] }) {
  const unknown = new Map<string, number>();
  for (const { name, streams } of runs.flatMap(({ phases }) => phases.flatMap(({ unknownFields }) => unknownFields)))
    unknown.set(name, (unknown.get(name) ?? 0) + streams);
  return (
    <>
      {unknown.size === 0 ? null : (
        <p>
          Streams have output in fields that no known client reads. It counts as output:{" "}
          {[...unknown].map(([name, streams]) => `${oneLine(name, 40)} (${plural(streams, "stream")})`).join(", ")}.
        </p>
      )}
      <GeneratorTable runs={runs} />
      {runs.every(({ generator }) => generator.calibration === null) ? null : (
        <p>
          The calibration is a short run against a server on this machine, before the load. It includes JIT compilation,
          so its TTFT error shows how late first tokens were read during warm-up, and no figure of the load includes it.
          Whether those figures can be trusted is shown by the schedule lag and the loop delay, which were measured
          during the load.
        </p>
      )}
    </>
  );
}

function GeneratorTable({ runs }: { readonly runs: readonly LoadRun[] }) {
  return (
    <DataTable
      caption="The generator, per load run"
      head={[
        "Run",
        "Valid",
        ...numbers(
          "Schedule lag p50 / p95 / p99, ms",
          "Loop delay p99, ms",
          "CPU of a core",
          "Memory",
          "Fewest samples",
          "Calibration: TTFT error p99, ms",
        ),
      ]}
      rows={runs.map(({ name, generator, phases }) => {
        const counts = phases.flatMap(({ classes }) =>
          classes.filter(({ outcome }) => outcome === "admitted").map(({ count }) => count),
        );
        return [
          <span key="name">
            {oneLine(name, 60)}
            {generator.problems.map((problem) => (
              <span class="because" key={problem}>
                <Foreign text={oneLine(problem, 200)} />
              </span>
            ))}
          </span>,
          <StatusMark
            key="valid"
            status={generator.valid ? "pass" : "inconclusive"}
            label={generator.valid ? "valid" : "not valid"}
          />,
          [generator.scheduleLagMs.p50, generator.scheduleLagMs.p95, generator.scheduleLagMs.p99]
            .map((lag) => decimal(lag, 2))
            .join(" / "),
          generator.loopDelayMs === null ? "none" : decimal(generator.loopDelayMs.p99, 2),
          percent(generator.cpuShare),
          bytes(generator.peakRssBytes),
          counts.length === 0 ? "–" : decimal(Math.min(...counts)),
          generator.calibration === null ? "not made" : decimal(generator.calibration.ttftErrorMs.p99, 2),
        ];
      })}
    />
  );
}

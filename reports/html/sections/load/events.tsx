import { checkOfEvents, type LoadRun, type RunRecord, statusOfFinding } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { executionText, figureTexts } from "../../../figures/event-figures.ts";
import { describeExpected, describeFacts } from "../../../text/index.ts";
import { DataTable, Foreign, Sentence, StatusMark } from "../../parts.tsx";

/** Maximum length of an output that is shown; the record has up to 16 KiB. */
const MAX_OUTPUT_CHARACTERS = 4_000;

/** What was done to the gateway during a load, what its clients noticed, and each expectation. */
export function Events({ record: { checks }, run }: { readonly record: RunRecord; readonly run: LoadRun }) {
  const { events = [] } = run;
  if (events.length === 0) return null;
  const findings = checkOfEvents(checks, run)?.findings ?? [];
  const outputs = events.flatMap(({ name, execution, undo }) => [
    ...(execution === null || execution.output === "" ? [] : [{ name, output: execution.output }]),
    ...(undo === undefined || undo.output === "" ? [] : [{ name: `${name}, undone`, output: undo.output }]),
  ]);
  return (
    <>
      <DataTable
        caption={`Events of ${oneLine(run.name, 40)}`}
        head={["Event", "At", "Action", "Client impact"]}
        rows={events.map((event) => [
          oneLine(event.name, 40),
          `${event.atS.toFixed(1)} s`,
          <Sentence key="done" text={oneLine(executionText(event), 400)} />,
          <ul key="noticed">
            {figureTexts(event).map((text) => (
              <li key={text}>
                <Sentence text={oneLine(text, 400)} />
              </li>
            ))}
          </ul>,
        ])}
      />
      {findings.length === 0 ? null : (
        <DataTable
          caption={`Expectations of the events of ${oneLine(run.name, 40)}`}
          quietCaption
          head={["Expectation", "Outcome", "Expected", "Observed"]}
          rows={findings.map((finding) => [
            <code key="name">{oneLine(finding.name, 120)}</code>,
            <StatusMark key="outcome" status={statusOfFinding(finding)} />,
            finding.expected === undefined ? (
              ""
            ) : (
              <Sentence key="expected" text={oneLine(describeExpected(finding.expected), 120)} />
            ),
            <Sentence key="observed" text={oneLine(describeFacts(finding), 300)} />,
          ])}
        />
      )}
      {outputs.map(({ name, output }) => (
        <details key={name}>
          <summary>Output of {oneLine(name, 60)}</summary>
          <pre>
            <Foreign text={output.slice(0, MAX_OUTPUT_CHARACTERS)} />
          </pre>
        </details>
      ))}
    </>
  );
}

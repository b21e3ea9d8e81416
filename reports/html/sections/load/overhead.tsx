import type { AddedDifference, Overhead, OverheadLevel } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { differenceText, promptText } from "../../../figures/overhead-figures.ts";
import { FrontierPlot } from "../../charts/frontier-plot.tsx";
import { bytes, decimal, plural } from "../../format.ts";
import { DataTable, numbers, Section, StatusMark } from "../../parts.tsx";

/** The latency that gateways add to their upstream. */
export function OverheadSection({ overhead }: { readonly overhead: Overhead }) {
  const { arms, control, direct, ceilingPerS, rounds } = overhead;
  return (
    <Section id="overhead" title="Overhead" finding={sentence(overhead)}>
      <p>
        Direct is {oneLine(direct, 120)}, which serves at most {decimal(ceilingPerS)} requests per second here. In each
        of {plural(rounds, "round")} every gateway ran a block of requests and the upstream two, in shuffled order.
        Differences are in milliseconds, with their 95 % intervals.
      </p>
      <p>
        <StatusMark status={control.fit ? "pass" : "inconclusive"} label="Direct against direct" />{" "}
        {oneLine(control.message, 300)}
      </p>
      <FrontierPlot arms={arms} />
      {arms.map((arm) => (
        <ArmTables key={arm.name} arm={arm} />
      ))}
    </Section>
  );
}

function sentence({ arms }: Overhead): string {
  const sentences = arms.flatMap(({ name, levels }) => {
    const first = levels.find(({ addedMs }) => addedMs.p50.value !== null);
    if (first === undefined) return [];
    const clients = plural(first.concurrency, "client");
    return [`${oneLine(name, 40)} adds ${differenceText(first.addedMs.p50.value ?? 0)} ms at p50 with ${clients}`];
  });
  return sentences.length === 0 ? "Nothing could be measured." : `${sentences.join("; ")}.`;
}

const FIGURES = ["p50", "p90", "p99", "TTFT p50", "Gap p50"] as const;

function ArmTables({
  arm: { name, levels, frontier, diagnoses = [], process },
}: {
  readonly arm: Overhead["arms"][number];
}) {
  return (
    <>
      <h3>{oneLine(name, 80)}</h3>
      {diagnoses.length === 0 ? null : (
        <ul>
          {diagnoses.map((text) => (
            <li key={text}>{oneLine(text, 300)}</li>
          ))}
        </ul>
      )}
      {process === undefined ? null : (
        <p>
          Its processes used {decimal(process.cpuS, 1)} s of CPU, at most {bytes(process.peakMemoryBytes)} of memory and{" "}
          {decimal(process.peakOpenFiles)} open files.
        </p>
      )}
      <DataTable
        caption={`Added latency of ${oneLine(name, 40)}, ms`}
        head={["Clients and requests", ...numbers(...FIGURES, "Requests/s")]}
        rows={levels.map((level) => [
          <span key="level">
            {`${decimal(level.concurrency)}, ${level.stream ? "streaming" : "non-streaming"}, ${promptText(level.promptBytes)}`}
            <span class="because">{oneLine(notesOf(level), 200)}</span>
          </span>,
          intervalText(level.addedMs.p50),
          intervalText(level.addedMs.p90),
          intervalText(level.addedMs.p99),
          intervalText(level.addedTtftMs?.p50),
          intervalText(level.addedGapMs?.p50),
          decimal(level.requestsPerS, 1),
        ])}
      />
      {frontier === undefined ? null : (
        <DataTable
          caption={`Highest rate at which ${oneLine(name, 40)} adds no more than a bound at p99`}
          head={["Added at p99", ...numbers("Requests/s"), "Notes"]}
          rows={frontier.bounds.map(({ addedP99Ms, requestsPerS, isPassed, upstreamBound }) => [
            `${addedP99Ms} ms`,
            requestsPerS === null ? "less than the lowest rate tried" : decimal(requestsPerS),
            [
              ...(isPassed ? [] : ["not exceeded at the highest rate sent"]),
              ...(upstreamBound ? ["upstream-bound"] : []),
            ].join("; "),
          ])}
        />
      )}
    </>
  );
}

function notesOf({ errors, requests, errorKinds, upstreamBound, heldAtPerS, eventsPerRead }: OverheadLevel): string {
  return [
    ...(errors === 0 ? [] : [`${errors} of ${requests} not served (${errorKinds[0]?.what ?? ""})`]),
    ...(upstreamBound ? ["upstream-bound"] : []),
    ...(heldAtPerS === null ? [] : [`held at ${decimal(heldAtPerS, 1)}/s`]),
    ...(eventsPerRead !== null && eventsPerRead.through > eventsPerRead.direct * 2
      ? [`${eventsPerRead.through} events per read, ${eventsPerRead.direct} directly`]
      : []),
  ].join("; ");
}

/** A figure above its interval. */
function intervalText(difference: AddedDifference | undefined) {
  if (difference === undefined || difference.value === null) return "–";
  const { value, low, high } = difference;
  return (
    <span>
      {differenceText(value)}
      <span class="because">{`${differenceText(low ?? value)} … ${differenceText(high ?? value)}`}</span>
    </span>
  );
}

import { utc } from "../../../src/core/index.ts";
import type { RunRecord } from "../../../src/record/index.ts";
import { oneLine, visible } from "../../clean-text.ts";
import { commandLineOf, rerunAllOf } from "../../evidence/reproduce.ts";
import { LOAD_TERMS, RESULT_TERMS } from "../../text/index.ts";
import { bytes } from "../format.ts";
import { Copyable, DataTable, Facts, Foreign, Heading, Prose, ScrollText, Section, SentenceList } from "../parts.tsx";

/** Where and with what the run was made, and how to repeat it. */
export function EnvironmentSection({ record }: { readonly record: RunRecord }) {
  const { environment, configuration, harness, requirementSet } = record;
  const second = secondRun(record);
  return (
    <Section
      id="environment"
      title="Environment and method"
      finding={`${second === undefined ? "Run" : `The second run (${second}) was made`} with ${harness.name} ${harness.version} on ${environment.platform}, Node ${environment.node.replace(/^v/, "")}, with seed ${record.seed}.`}
    >
      <Facts
        pairs={[
          ["Run", <code key="run">{visible(record.runId)}</code>],
          ["Started", utc(record.startedAt)],
          ["Ended", utc(record.endedAt)],
          ["Machine", `${visible(environment.cpuModel)}, ${environment.cpus} CPUs, ${bytes(environment.memoryBytes)}`],
          ["Requirement set", `${requirementSet.version}, SHA-256 ${requirementSet.sha256.slice(0, 16)}…`],
          ["Record", `run.json, schema version ${record.schemaVersion}`],
        ]}
      />
      <details id="configuration">
        <summary>
          Configuration from <Foreign text={record.target.source} />
        </summary>
        <p>
          Keys by reference only; SHA-256 <code>{configuration.sha256}</code>.
        </p>
        <ScrollText kind="listing" label="Configuration">
          {visible(JSON.stringify(configuration.value, null, 1) ?? "")}
        </ScrollText>
      </details>
      <Heading id="reproduce" title="Reproduce" />
      {second === undefined ? null : <p>Command of the second run ({second}):</p>}
      <Copyable
        label="Command that repeats the run"
        text={visible(second === undefined ? commandLineOf(record) : rerunAllOf(record))}
      />
      <p>
        {record.overhead === undefined ? (
          <>
            <code>gauntlet rejudge</code> computes the verdicts again from the recording, without traffic.{" "}
          </>
        ) : null}
        <code>gauntlet report</code> renders this page again from the run folder, byte for byte.
      </p>
      <Waivers record={record} />
      <Method />
      <Glossary />
    </Section>
  );
}

/** The record of a stored comparison is that of its second run, which this names. */
export function secondRun({ comparison }: RunRecord): string | undefined {
  return comparison?.kind === "stored" ? oneLine(comparison.b.name, 40) : undefined;
}

/** Failures that the gateway's team has accepted; those that expire first come first. */
function Waivers({ record }: { readonly record: RunRecord }) {
  const waivers = [...(record.waivers ?? [])].sort((a, b) => (a.expires < b.expires ? -1 : 1));
  const leftovers = record.leftovers ?? [];
  return (
    <>
      {waivers.length === 0 ? null : (
        <>
          <Heading id="waivers" title="Waivers" />
          <DataTable
            caption="Waivers"
            quietCaption
            head={["Check", "Until", "Owner", "Reason", "Place"]}
            rows={waivers.map(({ check, expires, owner, reason, place }) => [
              <code key="check">{oneLine(check, 160)}</code>,
              <span key="expires">
                {oneLine(expires, 20)}
                <span class="because">{remaining(expires, record.startedAt)}</span>
              </span>,
              <Foreign key="owner" text={oneLine(owner, 80)} />,
              <Foreign key="reason" text={oneLine(reason, 240)} />,
              <Foreign key="place" text={oneLine(place, 120)} />,
            ])}
          />
        </>
      )}
      {leftovers.length === 0 ? null : (
        <>
          <Heading id="leftovers" title="Left behind" />
          <SentenceList texts={leftovers.map((text) => oneLine(text, 240))} />
        </>
      )}
    </>
  );
}

/** Days until a waiver expires, counted from the day of the run, so that a page rendered later says the same. */
function remaining(expires: string, startedAt: string): string {
  const days = Math.round((Date.parse(expires) - Date.parse(startedAt.slice(0, 10))) / 86_400_000);
  if (!Number.isFinite(days)) return "";
  return days < 0 ? "expired" : `${days} ${days === 1 ? "day" : "days"} left`;
}

function Method() {
  return (
    <details id="method">
      <summary>Method</summary>
      <ul>
        <li>
          A negative probe is a valid request with exactly one thing changed. Its control request must have been served.
        </li>
        <li>
          Only first responses are judged: no retries, no redirects. After an unexpected denial, Gauntlet waits and runs
          the check once more; a second denial makes the result inconclusive.
        </li>
        <li>Nothing passes unless it was actually run and observed.</li>
        <li>What the specification leaves open is reported, but never judged.</li>
        <li>
          Load is open-loop. Response time counts from when a request was due, service time from when it was sent;
          admitted, denied, failed and invalid requests are never mixed. Histograms are merged; percentiles are never
          averaged.
        </li>
      </ul>
    </details>
  );
}

function Glossary() {
  return (
    <details id="glossary">
      <summary>Glossary</summary>
      <Facts
        pairs={[...LOAD_TERMS, ...Object.entries(RESULT_TERMS)].map(([word, meaning]) => [
          word,
          <Prose key={word} text={meaning} />,
        ])}
      />
    </details>
  );
}

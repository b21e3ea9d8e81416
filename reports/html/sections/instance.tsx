import type { CheckResult, Finding, RunRecord } from "../../../src/record/index.ts";
import { oneLine, shorten, visible } from "../../clean-text.ts";
import { sideOf } from "../../coverage.ts";
import { controlOf } from "../../evidence/control-request.ts";
import { curlLine, curlPreparation, keyVariables, maskNotes } from "../../evidence/curl.ts";
import { type Evidence, outcomeOf, requestIdOf } from "../../evidence/evidence.ts";
import { type Broken, brokenOf } from "../../evidence/problems.ts";
import { explainOf, rerunOf } from "../../evidence/reproduce.ts";
import type { ReportSource } from "../../evidence/source.ts";
import { levelOf } from "../../level.ts";
import { describeExpected, describeObserved, describeResponse } from "../../text/index.ts";
import type { Anchors } from "../anchors.ts";
import { decimal, duration } from "../format.ts";
import { Copyable, DataTable, Foreign, Prose, Sentence } from "../parts.tsx";
import { ExchangeView } from "./exchange.tsx";

/** Characters of a message in the summary of its instance. */
const MAX_SUMMARY = 160;
/** Maximum number of findings of one instance in the table. */
const MAX_FINDINGS = 12;

interface InstanceProps {
  readonly check: CheckResult;
  readonly source: ReportSource;
  readonly anchors: Anchors;
  /** The exchange that the cause already shows. */
  readonly shownAbove?: string | undefined;
}

/** One result: expected and observed, its exchange next to the control request, and how to reproduce it. */
export function Instance({ check, source, anchors, shownAbove }: InstanceProps) {
  const { record } = source;
  const broken = brokenOf(check);
  const seenIn = broken.flatMap(({ finding }) => finding.exchanges)[0] ?? check.exchanges.at(-1);
  const evidence = seenIn === undefined ? undefined : source.evidence(seenIn);
  const control = evidence === undefined ? undefined : controlOf(check, evidence, source);
  const pointers = broken.flatMap(({ finding }) => (finding.pointer === undefined ? [] : [finding.pointer]));
  return (
    <details class="instance" id={anchors.of("instance", check.id)}>
      <summary>
        <code>{oneLine(check.id, 200)}</code>
        {check.waived === undefined ? null : <span class="level">waived</span>}
        <span class="because">
          <Sentence text={oneLine(check.message, MAX_SUMMARY)} />
        </span>
      </summary>
      <div class="body">
        {check.waived === undefined ? null : (
          <p class="qualifiers">
            Waived until {oneLine(check.waived.expires, 20)} by {oneLine(check.waived.owner, 80)}:{" "}
            <Foreign text={oneLine(check.waived.reason, 300)} />
          </p>
        )}
        {broken.length === 0 ? (
          // A short message is already shown in full in the summary.
          check.message.length <= MAX_SUMMARY ? null : (
            <p>
              <Sentence text={shorten(check.message, 1_000)} />
            </p>
          )
        ) : (
          <Findings broken={broken} record={record} />
        )}
        {check.undecided === undefined ? null : (
          <p class="note">
            Not decided: <Sentence text={shorten(check.undecided, 1_000)} />
          </p>
        )}
        {evidence !== undefined && evidence.id === shownAbove ? (
          <p class="note">Its exchange and control request are shown above.</p>
        ) : evidence === undefined ? (
          <p class="note">
            {seenIn === undefined
              ? "There is no single exchange behind this result."
              : `Exchange ${visible(seenIn)} is not in the run folder.`}
          </p>
        ) : (
          <Pair evidence={evidence} control={control} pointers={pointers} />
        )}
        <Again record={record} check={check} evidence={evidence} control={control} />
      </div>
    </details>
  );
}

function Level({ level = "" }: { readonly level: string | undefined }) {
  return <span class={`level ${level.toLowerCase()}`}>{level}</span>;
}

/** What was compared, and the response if it is not a complete reply. */
function aboutOf({ subject, response }: Finding): string {
  const isReply = response?.status !== undefined && response.status < 300 && response.ending === undefined;
  return [subject, response === undefined || isReply ? undefined : describeResponse(response)]
    .filter((part) => part !== undefined)
    .join(": ");
}

/** Expected against observed, one row for each comparison that was not met. */
export function Findings({ broken, record }: { readonly broken: readonly Broken[]; readonly record: RunRecord }) {
  return (
    <>
      <DataTable
        caption="Expected against observed"
        quietCaption
        head={["Requirement", "Where", "Expected", "Observed"]}
        rows={broken.slice(0, MAX_FINDINGS).map(({ finding, times }) => [
          <span key="requirement" class="nowrap">
            <span class="requirement-id">{finding.requirements[0]}</span> <Level level={levelOf(record, finding)} />
          </span>,
          <span key="where">
            {finding.pointer === undefined ? null : <code>{visible(finding.pointer)}</code>}
            {aboutOf(finding) === "" ? null : (
              <span class="because">
                <Sentence text={oneLine(aboutOf(finding), 160)} />
              </span>
            )}
            {times > 1 ? <span class="because">{decimal(times)} times</span> : null}
          </span>,
          <span key="expected" class="expected">
            <Sentence text={shorten(describeExpected(finding.expected), 400)} />
          </span>,
          <span key="observed" class="observed">
            <Foreign text={shorten(describeObserved(finding.observed), 400)} />
          </span>,
        ])}
      />
      {broken.length > MAX_FINDINGS ? <p class="note">and {broken.length - MAX_FINDINGS} more findings</p> : null}
    </>
  );
}

interface PairProps {
  readonly evidence: Evidence;
  readonly control: Evidence | undefined;
  readonly pointers: readonly string[];
  readonly title?: string;
}

/** An exchange next to its control request. */
export function Pair({ evidence, control, pointers, title = "What was judged" }: PairProps) {
  return (
    <div class={control === undefined ? "pair single" : "pair"}>
      <ExchangeView evidence={evidence} title={title} against={control} pointers={pointers} />
      {control === undefined ? null : (
        <ExchangeView evidence={control} title="Its control request" against={evidence} pointers={[]} />
      )}
    </div>
  );
}

interface AgainProps {
  readonly record: RunRecord;
  readonly check: CheckResult;
  readonly evidence: Evidence | undefined;
  /** The control request that the page shows next to it. */
  readonly control: Evidence | undefined;
}

/** How to reproduce the result. */
export function Again({ record, check, evidence, control }: AgainProps) {
  const id = evidence === undefined ? undefined : requestIdOf(evidence);
  // The gateway that ran a script for a client no longer exists.
  const isGone = evidence === undefined || sideOf(record) === "client";
  const explanation = explainOf(check, record);
  const variableOf = keyVariables(record.configuration.value);
  const command = isGone ? undefined : curlLine(evidence, variableOf);
  const controlCommand = isGone || control === undefined ? undefined : curlLine(control, variableOf);
  const commands = [command, controlCommand].filter((one) => one !== undefined);
  return (
    <div class="again">
      {evidence === undefined ? null : (
        <p class="note">
          Exchange <code>{visible(evidence.id)}</code>, {outcomeOf(evidence)}, after{" "}
          {duration((evidence.timeline.endUs - (evidence.timeline.sentUs ?? evidence.timeline.dueUs)) / 1_000)};{" "}
          {id === undefined ? (
            "the gateway gave no request id."
          ) : (
            <>
              request id <code>{visible(shorten(id, 120))}</code>.
            </>
          )}
        </p>
      )}
      <h4>{explanation === undefined ? "Run just this again" : "Explain it, or run just this again"}</h4>
      {explanation === undefined ? null : <Copyable text={visible(explanation)} label="Command that explains it" />}
      <Copyable text={visible(rerunOf(record, check.id))} label="Command that runs just this again" />
      {command === undefined ? null : (
        <>
          <h4>Or send it by hand</h4>
          <Copyable text={visible(command)} label="curl command with the key as a variable" />
        </>
      )}
      {controlCommand === undefined ? null : (
        <>
          <h4>{command === undefined ? "Or send the control request by hand" : "And the control request"}</h4>
          <Copyable text={visible(controlCommand)} label="curl command for the control request" />
        </>
      )}
      {[
        ...new Set([
          ...commands.flatMap((one) => maskNotes(one, variableOf)),
          ...(commands.length === 0 ? [] : curlPreparation(commands, record)),
        ]),
      ].map((text) => (
        <p key={text} class="note">
          <Prose text={text} />
        </p>
      ))}
    </div>
  );
}

import { groupBy } from "../../../src/core/index.ts";
import type { RunRecord } from "../../../src/record/index.ts";
import { oneLine, shorten } from "../../clean-text.ts";
import type { CoveredRequirement } from "../../coverage.ts";
import { pasteInto, unblockYaml } from "../../unblock.ts";
import { decimal, enumerate, plural } from "../format.ts";
import { Copyable, DataTable, Heading, Prose, Sentence, StatusMark } from "../parts.tsx";

/** What was observed under OPEN requirements. */
export function Silent({ requirements }: { readonly requirements: readonly CoveredRequirement[] }) {
  if (requirements.length === 0) return null;
  return (
    <details id="silent">
      <summary>
        <strong>Where the specification is silent</strong>{" "}
        <span class="tally">{plural(requirements.length, "open question")} observed</span>
      </summary>
      <p>These observations count neither for nor against a gateway. They are recorded so that changes are visible.</p>
      <DataTable
        caption="Observed where the specification is silent"
        quietCaption
        head={["Requirement", "Open question", "Observed"]}
        rows={requirements.map(({ requirement, observed }) => [
          <span key="requirement" class="requirement-id">
            {requirement.id}
          </span>,
          <span key="text" class="statement">
            <Prose text={requirement.text} />
          </span>,
          <ul key="observed" class="plain">
            {observed.slice(0, 6).map((text) => (
              <li key={text}>
                <Sentence text={oneLine(text)} />
              </li>
            ))}
            {observed.length > 6 ? <li>and {observed.length - 6} more</li> : null}
          </ul>,
        ])}
      />
    </details>
  );
}

/** Requirements of a gateway that this run did not judge, and why. */
export function Uncovered({
  requirements,
  all,
}: {
  readonly requirements: readonly CoveredRequirement[];
  readonly all: readonly CoveredRequirement[];
}) {
  const excluded = requirements.filter((requirement) => requirement.excluded !== undefined);
  const rest = requirements.filter((requirement) => requirement.excluded === undefined);
  const clients = all.filter(({ requirement }) => requirement.binds === "client").length;
  return (
    <details id="uncovered">
      <summary>
        <strong>What was not judged</strong> <span class="tally">{plural(requirements.length, "requirement")}</span>
      </summary>
      <p>
        {rest.length === 0
          ? "Every requirement that can be judged on this interface was judged."
          : `${plural(rest.length, "more requirement was", "more requirements were")} not tested in this run: ${enumerate(
              rest.map(({ requirement }) => requirement.id),
              40,
            )}.`}{" "}
        {clients > 0
          ? `${plural(clients, "requirement applies", "requirements apply")} to clients, not gateways; Gauntlet itself complies with ${clients === 1 ? "it" : "them"}.`
          : ""}
      </p>
      {excluded.length === 0 ? null : (
        <ul>
          {excluded.map(({ requirement, excluded: reason }) => (
            <li key={requirement.id}>
              <span class="requirement-id">{requirement.id}</span> {reason}.
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** Requirements of a client that no scenario covers. */
export function UncoveredOfClient({ requirements }: { readonly requirements: readonly CoveredRequirement[] }) {
  return (
    <>
      <Heading id="uncovered" title="What was not judged" />
      <p>
        {requirements.length === 0
          ? "Every requirement that binds clients was judged."
          : `${plural(requirements.length, "client requirement")} cannot be observed in these scenarios: ${enumerate(
              requirements.map(({ requirement }) => requirement.id),
              40,
            )}.`}
      </p>
    </>
  );
}

const blockedChecks = ({ checks }: RunRecord) => checks.filter(({ status }) => status === "blocked");

/** One block with the lines that would unblock checks, next to the verdict: most checks are blocked in a first run with one key. */
export function Unblock({ record }: { readonly record: RunRecord }) {
  const blocked = blockedChecks(record);
  const yaml = unblockYaml(blocked, record.configuration.value);
  if (yaml === undefined) return null;
  return (
    <div id="unblock">
      <p>
        <Prose text={oneLine(pasteInto(record))} />{" "}
        <a href="#not-run">See which line each of the {decimal(blocked.length)} checks needs</a>.
      </p>
      <Copyable label="Lines of the target file that would unblock them" text={yaml} />
    </div>
  );
}

/** Blocked checks, grouped by missing precondition. */
export function NotRun({ record }: { readonly record: RunRecord }) {
  const blocked = blockedChecks(record);
  if (blocked.length === 0) return null;
  const byMessage = groupBy(blocked, ({ message }) => message);
  return (
    <>
      <Heading id="not-run" title="Not run" />
      <ul class="not-run">
        {[...byMessage].map(([message, checks]) => (
          <li key={message}>
            <StatusMark status="blocked" label={plural(checks.length, "check instance")} />{" "}
            <Sentence text={shorten(message, 400)} />
            <p class="note">
              {enumerate(
                checks.map(({ id }) => oneLine(id, 120)),
                6,
              )}
            </p>
          </li>
        ))}
      </ul>
      {unblockYaml(blocked, record.configuration.value) === undefined ? null : (
        <p>
          <a href="#unblock">The lines to paste</a> are next to the verdict.
        </p>
      )}
    </>
  );
}

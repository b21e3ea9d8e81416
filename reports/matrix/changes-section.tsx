import { type ClaimChange, changesOf } from "../../src/claims/index.ts";
import { oneLine } from "../clean-text.ts";
import type { Anchors } from "../html/anchors.ts";
import { DataTable, Foreign, Heading, ResultMark, Section } from "../html/parts.tsx";
import { type Mark, PROFILE_MARKS, REQUIREMENT_MARKS } from "../status-style.ts";
import type { MatrixClaim } from "./matrix-source.ts";

interface ChangesSectionProps {
  readonly claims: readonly MatrixClaim[];
  readonly anchors: Anchors;
}

/** Where the page says what changed with the claim of a run. */
export const changeId = (anchors: Anchors, runId: string): string => anchors.of("change", runId);

/** What changed from one version of a gateway to the next; nothing if no gateway has two claims. */
export function ChangesSection({ claims, anchors }: ChangesSectionProps) {
  const { changes } = changesOf(claims);
  if (changes.length === 0) return null;
  return (
    <Section
      id="changes"
      title="Changes"
      finding={
        <>
          From each version of a gateway to the next, the newest first. Also as <a href="changes.json">changes.json</a>.
        </>
      }
    >
      {changes.map((change) => (
        <Change key={change.to.runId} change={change} id={changeId(anchors, change.to.runId)} />
      ))}
    </Section>
  );
}

const NONE: Mark = { sign: "–", tone: "quiet", word: "not there" };
const WORDS = { better: "better", worse: "worse", other: "neither" } as const;

function Change({ change, id }: { readonly change: ClaimChange; readonly id: string }) {
  const { gateway, from, to, profiles, requirements, also } = change;
  const build = ({ version, startedAt }: ClaimChange["from"]) =>
    `${oneLine(version ?? "version not stated", 60)} (${startedAt.slice(0, 10)})`;
  const rows = [
    ...profiles.map(({ name, from: before, to: after, direction }) => [
      `profile ${oneLine(name, 40)}`,
      <ResultMark key="before" {...(before === null ? NONE : PROFILE_MARKS[before])} />,
      <ResultMark key="after" {...(after === null ? NONE : PROFILE_MARKS[after])} />,
      WORDS[direction],
      "",
    ]),
    ...requirements.map(({ profile, id: requirement, from: before, to: after, direction, why = "" }) => [
      `${oneLine(requirement, 60)} in ${oneLine(profile, 40)}`,
      <ResultMark key="before" {...(before === null ? NONE : REQUIREMENT_MARKS[before])} />,
      <ResultMark key="after" {...(after === null ? NONE : REQUIREMENT_MARKS[after])} />,
      WORDS[direction],
      <Foreign key="why" text={oneLine(why, 160)} />,
    ]),
  ];
  return (
    <>
      <Heading id={id} title={`${oneLine(gateway, 60)}: ${build(from)} to ${build(to)}`} />
      {rows.length === 0 ? (
        <p>No result changed.</p>
      ) : (
        <DataTable
          caption={`What changed in ${oneLine(gateway, 60)} with ${build(to)}`}
          quietCaption
          head={["What", "Before", "Now", "Direction", "Why"]}
          rows={rows}
        />
      )}
      {also.length === 0 ? null : (
        <p class="note">
          Also different, so a result may differ for reasons other than the gateway:{" "}
          {also.map((one) => oneLine(one, 100)).join(", ")}.
        </p>
      )}
    </>
  );
}

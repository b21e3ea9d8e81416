import type { ComponentChildren } from "preact";
import type { RequirementResult } from "../../src/record/index.ts";
import { isRequirementId, profileNamed, requirementOf } from "../../src/requirements/index.ts";
import { oneLine } from "../clean-text.ts";
import type { Anchors } from "../html/anchors.ts";
import { DataTable, Heading, Prose, ResultMark, Section, Sentence } from "../html/parts.tsx";
import { REQUIREMENT_MARKS } from "../status-style.ts";
import { claimId, evidenceId, hasEvidence } from "./evidence-section.tsx";
import { gatewayName, type MatrixClaim, profileOf, type Shown, shortVersion } from "./matrix-source.ts";

/** Maximum length of a reason in a cell; the section of the claim has all of it. */
const MAX_REASON_CHARACTERS = 90;

/** For each profile, its requirements against the claims. */
export function RequirementsSection({ claims, profiles, anchors }: Shown) {
  return (
    <Section
      id="requirements"
      title="Requirements"
      finding="What each profile requires. Unmet results link to their evidence."
    >
      {profiles.map((name) => (
        <Profile key={name} name={name} claims={claims} anchors={anchors} />
      ))}
    </Section>
  );
}

interface ProfileProps {
  readonly name: string;
  readonly claims: readonly MatrixClaim[];
  readonly anchors: Anchors;
}

function Profile({ name, claims, anchors }: ProfileProps) {
  const results = claims.map((claim) => ({ claim, profile: profileOf(claim, name) }));
  const ids = new Map(
    results.flatMap(({ profile }) => profile?.requirements.map(({ id, level }) => [id, level]) ?? []),
  );
  const known = profileNamed(name);
  return (
    <>
      <Heading id={anchors.of("profile", name)} title={oneLine(name, 60)} />
      {known === undefined ? null : <p>{known.why}</p>}
      <DataTable
        caption={`Requirements of ${oneLine(name, 60)}`}
        quietCaption
        matrix
        head={[
          "Requirement",
          ...claims.map((claim) => ({
            value: (
              <>
                <a href={`#${claimId(anchors, claim)}`}>{gatewayName(claim)}</a>
                <small>{shortVersion(claim.claim)}</small>
              </>
            ),
          })),
        ]}
        rows={[...ids].map(([id, level]) => [
          <>
            <span class="requirement-id">{oneLine(id, 60)}</span>{" "}
            <span class={`level ${level.toLowerCase()}`}>{level}</span>
            {isRequirementId(id) ? (
              <span class="because">
                <Prose text={requirementOf(id).text} />
              </span>
            ) : null}
          </>,
          ...results.map(({ claim, profile }) =>
            requirementCell(
              claim,
              profile?.requirements.find((one) => one.id === id),
              anchors,
            ),
          ),
        ])}
      />
    </>
  );
}

function requirementCell(
  claim: MatrixClaim,
  requirement: RequirementResult | undefined,
  anchors: Anchors,
): ComponentChildren {
  if (requirement === undefined) {
    return (
      <>
        <ResultMark sign="–" tone="quiet" word="no result" />
        <span class="because">not in this claim</span>
      </>
    );
  }
  const mark = <ResultMark {...REQUIREMENT_MARKS[requirement.result]} />;
  if (hasEvidence(requirement)) return <a href={`#${evidenceId(anchors, claim, requirement.id)}`}>{mark}</a>;
  return (
    <>
      {mark}
      {requirement.why === undefined ? null : (
        <span class="because">
          <Sentence text={oneLine(requirement.why, MAX_REASON_CHARACTERS)} />
        </span>
      )}
    </>
  );
}

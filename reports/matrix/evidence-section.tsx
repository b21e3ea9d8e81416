import type { Claim, ClaimedExchange } from "../../src/claims/index.ts";
import { utc } from "../../src/core/index.ts";
import type { RequirementResult } from "../../src/record/index.ts";
import { isRequirementId, requirementOf } from "../../src/requirements/index.ts";
import { oneLine, passage, visible } from "../clean-text.ts";
import { brokenOf } from "../evidence/problems.ts";
import type { ReportSource } from "../evidence/source.ts";
import type { Anchors } from "../html/anchors.ts";
import {
  Copyable,
  Facts,
  Foreign,
  Heading,
  Prose,
  ResultMark,
  ScrollText,
  Section,
  Sentence,
  SentenceList,
} from "../html/parts.tsx";
import { Findings, Pair } from "../html/sections/instance.tsx";
import { REQUIREMENT_MARKS } from "../status-style.ts";
import { gatewayName, type MatrixClaim, type Shown, versionText } from "./matrix-source.ts";

/** Maximum length of a body that is shown; a claim has at most 1,500 characters of it. */
const MAX_BODY_CHARACTERS = 1_500;
const MAX_WHY_CHARACTERS = 1_500;

/** Results that have something to look at: the reason, the check instances, and exchanges. */
const WITH_EVIDENCE: readonly RequirementResult["result"][] = ["broken", "waived", "undecided", "blocked"];

export const hasEvidence = ({ result }: RequirementResult): boolean => WITH_EVIDENCE.includes(result);

export const claimId = (anchors: Anchors, { claim }: MatrixClaim): string => anchors.of("claim", keyOf(claim));

export const evidenceId = (anchors: Anchors, { claim }: MatrixClaim, requirement: string): string =>
  anchors.of("evidence", `${keyOf(claim)} ${requirement}`);

const keyOf = ({ gateway, run }: Claim): string => `${gateway.name.slice(0, 40)} ${run.id}`;

/** What each claim states, and the evidence of everything that it does not meet. */
export function EvidenceSection({ claims, anchors, hasRecords }: Shown & { readonly hasRecords: boolean }) {
  return (
    <Section
      id="claims"
      title="Claims and evidence"
      finding="The publisher of a claim vouches for it. A claim that was verified follows from the record of its run."
    >
      {claims.map((claim) => (
        <ClaimPart key={claim.claim.run.id} claim={claim} anchors={anchors} hasRecords={hasRecords} />
      ))}
    </Section>
  );
}

interface ClaimPartProps {
  readonly claim: MatrixClaim;
  readonly anchors: Anchors;
  readonly hasRecords: boolean;
}

function ClaimPart({ claim: shown, anchors, hasRecords }: ClaimPartProps) {
  const { claim, record } = shown;
  const { harness, requirementSet, run, waivers, limitations } = claim;
  const title = `${gatewayName(shown)}, ${oneLine(versionText(claim), 80)}`;
  const commit = harness.commit === undefined ? "commit unknown" : `commit ${oneLine(harness.commit, 40)}`;
  return (
    <>
      <Heading id={claimId(anchors, shown)} title={title} />
      <Facts
        pairs={[
          ["Tested", utc(run.startedAt)],
          ["Started with", <Foreign key="start" text={oneLine(claim.gateway.startedWith ?? "not stated", 300)} />],
          ["Identified itself as", <Foreign key="server" text={oneLine(claim.gateway.server ?? "nothing", 120)} />],
          ["Gauntlet", `${oneLine(harness.version, 40)}, ${commit}${harness.dirty === true ? ", with changes" : ""}`],
          ["Requirement set", `${oneLine(requirementSet.version, 40)}, SHA-256 ${oneLine(requirementSet.sha256, 64)}`],
          ["Record", <code key="record">{claim.record.sha256}</code>],
          ["Verified", verifiedText(record, hasRecords)],
        ]}
      />
      {limitations.length === 0 ? null : (
        <div class="qualifiers">
          No profile of this claim can be conformant:
          <SentenceList texts={limitations.map((text) => oneLine(text, 300))} />
        </div>
      )}
      {waivers.length === 0 ? null : (
        <>
          <p class="note">Accepted failures:</p>
          <SentenceList
            texts={waivers.map(({ check, reason, owner, expires }) =>
              oneLine(`${check}, until ${expires} by ${owner}: ${reason}`, 300),
            )}
          />
        </>
      )}
      <SentenceList texts={run.qualifiers.map((text) => oneLine(text, 300))} />
      {claim.contract === null ? null : (
        <ScrollText kind="listing" label={`Contract of ${title}`}>
          {passage(JSON.stringify(claim.contract, null, 1), 3_000)}
        </ScrollText>
      )}
      <p class="note">
        Repeat the run. <code>gauntlet verify-claim</code> needs a record: that of this run, if its publisher provides
        it, or the one that this command writes, with a claim of its own.
      </p>
      <Copyable text={oneLine(claim.reproduce, 1_000)} label={`Command that repeats the run of ${title}`} />
      {requirementsOf(claim).map(({ requirement, profiles }) => (
        <Evidence
          key={requirement.id}
          id={evidenceId(anchors, shown, requirement.id)}
          requirement={requirement}
          profiles={profiles}
          claim={shown}
        />
      ))}
    </>
  );
}

function verifiedText(record: ReportSource | undefined, hasRecords: boolean): string {
  if (record !== undefined) return "yes: recomputed from the record, byte for byte";
  return hasRecords ? "no: --records does not contain its record" : "no: run without --records";
}

interface InProfiles {
  readonly requirement: RequirementResult;
  /** `chat (MUST)`. */
  readonly profiles: readonly string[];
}

/** Every requirement once, although several profiles have it; the result with an exchange if there are several. */
function requirementsOf({ profiles }: Claim): InProfiles[] {
  const byId = new Map<string, { requirement: RequirementResult; profiles: string[] }>();
  for (const profile of profiles)
    for (const requirement of profile.requirements.filter(hasEvidence)) {
      const known = byId.get(requirement.id);
      const name = `${oneLine(profile.name, 40)} (${requirement.level})`;
      if (known === undefined) byId.set(requirement.id, { requirement, profiles: [name] });
      else {
        known.profiles.push(name);
        if (rankOf(requirement) > rankOf(known.requirement)) known.requirement = requirement;
      }
    }
  return [...byId.values()];
}

const rankOf = ({ result, exchange }: RequirementResult): number =>
  (result === "broken" ? 2 : 0) + (exchange === undefined ? 0 : 1);

interface EvidenceProps extends InProfiles {
  readonly id: string;
  readonly claim: MatrixClaim;
}

function Evidence({ id, requirement, profiles, claim: { claim, record } }: EvidenceProps) {
  const { checks, why, exchange, control } = requirement;
  const name = oneLine(requirement.id, 60);
  return (
    <article class="evidence" id={id} aria-label={`${name} of ${oneLine(claim.gateway.name, 60)}`}>
      <h4>
        <ResultMark {...REQUIREMENT_MARKS[requirement.result]} /> <span class="requirement-id">{name}</span>
      </h4>
      <p class="note">In {profiles.join(", ")}</p>
      {isRequirementId(requirement.id) ? (
        <p>
          Expected:{" "}
          <span class="expected">
            <Prose text={requirementOf(requirement.id).text} />
          </span>
        </p>
      ) : null}
      {why === undefined ? null : (
        <p>
          {requirement.result === "broken" ? "Observed: " : "Why: "}
          <Sentence text={passage(why, MAX_WHY_CHARACTERS)} />
        </p>
      )}
      <p class="note">
        {requirement.met > 0 ? `Met in ${requirement.met} other comparisons. ` : null}
        Check instances:{" "}
        {checks.length === 0
          ? "none"
          : checks.map((check, index) => (
              <>
                {index === 0 ? null : ", "}
                <code>{oneLine(check, 160)}</code>
              </>
            ))}
      </p>
      {record === undefined ? null : <FindingsOf requirement={requirement} source={record} />}
      {exchange === undefined ? null : (
        <Exchanges id={exchange} control={control} claim={claim} source={record} name={name} />
      )}
    </article>
  );
}

/** The comparisons that violate the requirement, as the record has them. */
function FindingsOf({
  requirement,
  source,
}: {
  readonly requirement: RequirementResult;
  readonly source: ReportSource;
}) {
  const broken = source.record.checks
    .filter(({ id }) => requirement.checks.includes(id))
    .flatMap(brokenOf)
    .filter(({ finding }) => finding.requirements.includes(requirement.id));
  return broken.length === 0 ? null : <Findings broken={broken} record={source.record} />;
}

interface ExchangesProps {
  readonly id: string;
  readonly control: string | undefined;
  readonly claim: Claim;
  readonly source: ReportSource | undefined;
  readonly name: string;
}

/** The exchange and its control request: complete from the record, otherwise what the claim has of them. */
function Exchanges({ id, control, claim, source, name }: ExchangesProps) {
  const recorded = source?.evidence(id);
  if (recorded !== undefined) {
    const controlled = control === undefined ? undefined : source?.evidence(control);
    return <Pair evidence={recorded} control={controlled} pointers={[]} />;
  }
  const claimed = claim.exchanges.find((one) => one.id === id);
  if (claimed === undefined) return <p class="note">The claim does not include exchange {oneLine(id, 60)}.</p>;
  const good = claim.exchanges.find((one) => one.id === control);
  return (
    <div class={good === undefined ? "pair single" : "pair"}>
      <ClaimedView exchange={claimed} title="What was judged" name={name} />
      {good === undefined ? (
        <p class="note">The claim does not include a control request.</p>
      ) : (
        <ClaimedView exchange={good} title="Its control request" name={name} />
      )}
    </div>
  );
}

interface ClaimedViewProps {
  readonly exchange: ClaimedExchange;
  readonly title: string;
  readonly name: string;
}

function ClaimedView({ exchange, title, name }: ClaimedViewProps) {
  const { method, url, requestBody, outcome, responseBody, curl } = exchange;
  return (
    <div class="exchange">
      <h4>{title}</h4>
      <ScrollText kind="listing" label={`${title} of ${name}: request`}>
        {`${oneLine(method, 20)} ${oneLine(url, 500)}`}
        {requestBody === undefined ? null : `\n\n${passage(requestBody, MAX_BODY_CHARACTERS)}`}
      </ScrollText>
      <div>
        <ScrollText kind="listing" label={`${title} of ${name}: response`}>
          {oneLine(outcome, 200)}
          {responseBody === undefined ? null : `\n\n${passage(responseBody, MAX_BODY_CHARACTERS)}`}
        </ScrollText>
        {curl === undefined ? null : (
          <Copyable text={visible(curl.slice(0, 4_000))} label={`curl command: ${title} of ${name}`} />
        )}
      </div>
    </div>
  );
}

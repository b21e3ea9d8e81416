import type { ComponentChildren } from "preact";
import { byGateway } from "../../src/claims/index.ts";
import { PROFILE_RESULTS } from "../../src/record/index.ts";
import { PROFILE_NAMES } from "../../src/requirements/index.ts";
import { oneLine } from "../clean-text.ts";
import { Anchors } from "../html/anchors.ts";
import { Document, type Head, Masthead } from "../html/document.tsx";
import { plural } from "../html/format.ts";
import { type Cell, DataTable, Prose, ResultMark, Section } from "../html/parts.tsx";
import { withoutScript } from "../html/render-html.tsx";
import { PROFILE_MARKS } from "../status-style.ts";
import { ChangesSection, changeId } from "./changes-section.tsx";
import { claimId, EvidenceSection, evidenceId, hasEvidence } from "./evidence-section.tsx";
import {
  dayOf,
  gatewayName,
  type MatrixClaim,
  type MatrixSource,
  profileOf,
  profilesIn,
  reasonOf,
  type Shown,
  shortVersion,
} from "./matrix-source.ts";
import { NeedsSection } from "./needs-section.tsx";
import { OverheadSection } from "./overhead-section.tsx";
import { RequirementsSection } from "./requirements-section.tsx";
import { MATRIX_STYLE, meetsClass, needClass } from "./style.ts";

/** Gateways and the profiles that they meet, as one file without a script. */
export function renderMatrixPage(source: MatrixSource): string {
  return withoutScript((head) => <MatrixPage source={source} head={head} />, MATRIX_STYLE);
}

/** Gateways and the profiles that they meet, then requirements, evidence and changes. */
function MatrixPage({ source, head }: { readonly source: MatrixSource; readonly head: Head }) {
  const anchors = new Anchors();
  const gateways = byGateway(source.claims);
  const claims = gateways.flatMap((gateway) => [...gateway.claims]);
  const profiles = profilesIn(claims);
  const latest =
    claims
      .map(({ claim }) => claim.run.startedAt)
      .sort()
      .at(-1) ?? "";
  const shown = { claims, profiles, anchors };
  const hasVersions = gateways.some((gateway) => gateway.claims.length > 1);
  return (
    <Document title="Which gateway meets which profile" head={head} main="the matrix">
      <Masthead what="matrix">last run {latest.slice(0, 10)}</Masthead>
      <div class="frame whole">
        <main id="main">
          <h1>Which gateway meets which profile</h1>
          <nav aria-label="Sections">
            <a href="#matrix">Profiles</a> · <a href="#overhead">Overhead</a> · <a href="#requirements">Requirements</a>{" "}
            · <a href="#claims">Claims and evidence</a>
            {hasVersions ? (
              <>
                {" "}
                · <a href="#changes">Changes</a>
              </>
            ) : null}
          </nav>
          <NeedsSection {...shown} claims={gateways.map((gateway) => gateway.claims[0])} />
          <Overview {...shown} gateways={gateways.length} />
          <OverheadSection {...shown} record={source.overhead} />
          <RequirementsSection {...shown} />
          <EvidenceSection {...shown} hasRecords={source.hasRecords} />
          <ChangesSection claims={claims} anchors={anchors} />
        </main>
      </div>
    </Document>
  );
}

function Overview({ claims, profiles, anchors, gateways }: Shown & { readonly gateways: number }) {
  return (
    <Section
      id="matrix"
      title="Profiles"
      finding={`${plural(gateways, "gateway")}, ${plural(claims.length, "claim")}. A profile is either fully met or not met; there is no score.`}
    >
      <ul class="legend" aria-label="Results">
        {PROFILE_RESULTS.map((result) => (
          <li key={result}>
            <ResultMark {...PROFILE_MARKS[result]} />: {MEANINGS[result]}
          </li>
        ))}
      </ul>
      <fieldset class="needs">
        <legend>Show only gateways that meet</legend>
        {profiles.filter(isProfile).map((name) => (
          <label key={name}>
            <input type="checkbox" class={needClass(name)} autocomplete="off" /> {name}
          </label>
        ))}
      </fieldset>
      <DataTable
        caption="Gateways and profiles"
        quietCaption
        matrix
        head={["Gateway", ...profiles.map((name) => profileHead(name, { claims, anchors }))]}
        rows={claims.map((claim) => [
          <>
            <a href={`#${claimId(anchors, claim)}`}>{gatewayName(claim)}</a>
            <span class="because">
              {shortVersion(claim.claim)}, {dayOf(claim.claim)}
            </span>
            {hasOlder(claims, claim) ? (
              <span class="because">
                <a href={`#${changeId(anchors, claim.claim.run.id)}`}>what changed</a>
              </span>
            ) : null}
          </>,
          ...profiles.map((name) => profileCell(claim, name, anchors)),
        ])}
      />
    </Section>
  );
}

/** The claims of a gateway are next to each other, the newest first. */
function hasOlder(claims: readonly MatrixClaim[], claim: MatrixClaim): boolean {
  return claims[claims.indexOf(claim) + 1]?.claim.gateway.name === claim.claim.gateway.name;
}

const isProfile = (name: string): boolean => PROFILE_NAMES.includes(name);

const MEANINGS = {
  conformant: "every MUST was judged and met",
  "not-conformant": "a MUST is violated",
  partial: "not everything could be judged, or the claim has a limitation",
  "not-claimed": "not claimed, and not fully tested",
} as const;

function profileHead(name: string, { claims, anchors }: Pick<Shown, "claims" | "anchors">): Cell {
  const versions = new Set(claims.flatMap((claim) => profileOf(claim, name)?.version ?? []));
  const [version] = versions;
  return {
    value: (
      <>
        <a href={`#${anchors.of("profile", name)}`}>{oneLine(name, 40)}</a>
        <small>{versions.size === 1 ? `version ${version}` : "several versions"}</small>
      </>
    ),
  };
}

function profileCell(claim: MatrixClaim, name: string, anchors: Anchors): ComponentChildren {
  const profile = profileOf(claim, name);
  const reason = reasonOf(claim, profile);
  const because =
    reason === undefined ? null : (
      <span class="because">
        <Prose text={oneLine(reason, 90)} />
      </span>
    );
  if (profile === undefined) {
    return (
      <>
        <ResultMark sign="–" tone="quiet" word="no result" />
        {because}
      </>
    );
  }
  const mark = <ResultMark {...PROFILE_MARKS[profile.result]} />;
  const musts = profile.requirements.filter(({ level }) => level === "MUST");
  const decisive = musts.find(({ result }) => result === "broken") ?? musts.find(hasEvidence);
  const to = decisive === undefined ? anchors.of("profile", name) : evidenceId(anchors, claim, decisive.id);
  return (
    <>
      <a href={`#${to}`} class={profile.result === "conformant" ? meetsClass(name) : undefined}>
        {mark}
      </a>
      {because}
    </>
  );
}

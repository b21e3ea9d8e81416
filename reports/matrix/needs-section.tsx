import type { ComponentChildren } from "preact";
import type { Anchors } from "../html/anchors.ts";
import { DataTable, ResultMark, Section } from "../html/parts.tsx";
import { claimId } from "./evidence-section.tsx";
import { gatewayName, isUnverified, type MatrixClaim, profileOf, type Shown, UNVERIFIED } from "./matrix-source.ts";

interface Need {
  readonly what: string;
  readonly profiles: readonly string[];
}

/** What buyers often need, as profiles. */
const NEEDS: readonly Need[] = [
  { what: "Both dialects, streaming", profiles: ["chat", "messages", "streaming"] },
  { what: "Both dialects, streaming, hard budgets", profiles: ["chat", "messages", "streaming", "money"] },
  { what: "Agents built on the OpenAI SDKs", profiles: ["openai-sdk", "streaming"] },
  { what: "Agents built on the Anthropic SDKs", profiles: ["anthropic-sdk", "streaming"] },
  { what: "Per-account limits, named denial reasons", profiles: ["models-and-auth", "denials", "limits"] },
  { what: "Several processes, one account", profiles: ["replicas", "money"] },
];

/** Which gateways meet every profile of a need, and which all but one. @param claims the newest of each gateway. */
export function NeedsSection({ claims, profiles, anchors }: Shown) {
  const needs = NEEDS.filter((need) => need.profiles.every((name) => profiles.includes(name)));
  if (needs.length === 0) return null;
  return (
    <Section
      id="needs"
      title="Which gateway to choose"
      finding="For each common need, the gateways whose newest version conforms to every profile that it requires."
    >
      <DataTable
        caption="Needs and gateways"
        quietCaption
        head={["Need", "Meets every profile", "All but one profile"]}
        rows={needs.map(({ what, profiles: needed }) => {
          const missing = claims.map((claim) => ({ claim, lacks: needed.filter((name) => !meets(claim, name)) }));
          const meeting = missing.filter(({ lacks }) => lacks.length === 0);
          const close = missing.filter(({ lacks }) => lacks.length === 1 && needed.length > 1);
          return [
            <>
              {what}
              <span class="because">{needed.join(", ")}</span>
            </>,
            meeting.length === 0
              ? "none"
              : meeting.map(({ claim }) => (
                  <GatewayLink key={claim.claim.run.id} claim={claim} anchors={anchors}>
                    {needed.some((name) => isUnverifiedIn(claim, name)) ? UNVERIFIED : undefined}
                  </GatewayLink>
                )),
            close.length === 0
              ? "none"
              : close.map(({ claim, lacks: [lack = ""] }) => (
                  <NearMiss key={claim.claim.run.id} claim={claim} anchors={anchors} lack={lack} />
                )),
          ];
        })}
      />
    </Section>
  );
}

const meets = (claim: MatrixClaim, name: string): boolean => profileOf(claim, name)?.result === "conformant";

function isUnverifiedIn(claim: MatrixClaim, name: string): boolean {
  const profile = profileOf(claim, name);
  return profile !== undefined && isUnverified(claim, profile);
}

interface NamedProps {
  readonly claim: MatrixClaim;
  readonly anchors: Anchors;
}

function GatewayLink({ claim, anchors, children }: NamedProps & { readonly children?: ComponentChildren }) {
  return (
    <span class="choice">
      <ResultMark sign="✓" tone="good" word="" />
      <a href={`#${claimId(anchors, claim)}`}>{gatewayName(claim)}</a>
      {children === undefined ? null : <span class="because">{children}</span>}
    </span>
  );
}

function NearMiss({ claim, anchors, lack }: NamedProps & { readonly lack: string }) {
  const word = profileOf(claim, lack)?.result.replace("-", " ") ?? "no result";
  return (
    <span class="choice">
      <a href={`#${claimId(anchors, claim)}`}>{gatewayName(claim)}</a>{" "}
      <span class="lack">
        ({lack}: {word})
      </span>
    </span>
  );
}

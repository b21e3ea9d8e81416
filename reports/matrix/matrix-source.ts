import type { Claim } from "../../src/claims/index.ts";
import type { Overhead, ProfileResult, RunRecord } from "../../src/record/index.ts";
import { PROFILE_NAMES, profileNamed } from "../../src/requirements/index.ts";
import { oneLine } from "../clean-text.ts";
import type { ReportSource } from "../evidence/source.ts";
import type { Anchors } from "../html/anchors.ts";
import { describeProfile } from "../text/index.ts";

/** All inputs of the matrix. The same source always renders to the same bytes. */
export interface MatrixSource {
  readonly claims: readonly MatrixClaim[];
  /** Whether records were given, so that claims could be verified. */
  readonly hasRecords: boolean;
  /** A measurement of what gateways add to the latency of their upstream; absent: none was given. */
  readonly overhead?: OverheadRecord | undefined;
}

/** The record of a measurement, which has a section about overhead. */
export type OverheadRecord = RunRecord & { readonly overhead: Overhead };

export interface MatrixClaim {
  readonly claim: Claim;
  /** The record that the claim was verified with; absent: not given. */
  readonly record?: ReportSource | undefined;
}

/** Names of all profiles that claims have: known ones in the usual order, then the others. */
export function profilesIn(claims: readonly MatrixClaim[]): string[] {
  const named = new Set(claims.flatMap(({ claim }) => claim.profiles.map(({ name }) => name)));
  return [
    ...PROFILE_NAMES.filter((name) => named.has(name)),
    ...[...named].filter((name) => !PROFILE_NAMES.includes(name)).sort(),
  ];
}

export const profileOf = ({ claim }: MatrixClaim, name: string): ProfileResult | undefined =>
  claim.profiles.find((profile) => profile.name === name);

/** Why a cell is not conformant, or how far it can be relied on, in a few words; absent if there is nothing to say. */
export function reasonOf(shown: MatrixClaim, profile: ProfileResult | undefined): string | undefined {
  const reason = resultReason(shown, profile);
  if (profile === undefined || !isUnverified(shown, profile)) return reason;
  return reason === undefined ? UNVERIFIED : `${UNVERIFIED}; ${reason}`;
}

export const UNVERIFIED = "not verified";

/** Whether a result is only what the publisher of the claim states. */
export const isUnverified = ({ record }: MatrixClaim, { result }: ProfileResult): boolean =>
  record === undefined && result !== "not-claimed";

function resultReason({ claim }: MatrixClaim, profile: ProfileResult | undefined): string | undefined {
  if (profile === undefined) return "the claim does not have this profile";
  const { result, version, requirements } = profile;
  if (result === "conformant")
    return isKnown(profile)
      ? undefined
      : `version ${version} is unknown here: its list of requirements was not checked`;
  const musts = requirements.filter(({ level }) => level === "MUST");
  if (result === "not-claimed") {
    const open = musts.filter((one) => one.result !== "met" && one.result !== "not-applicable").length;
    return `not chosen; ${open} of ${musts.length} MUST open`;
  }
  const [, counted] = /\((.*)\)/.exec(describeProfile(profile)) ?? [];
  if (result === "partial" && counted === undefined) return claim.limitations[0] ?? "not tested completely";
  return counted;
}

/** Whether this program has this version of the profile, so that the list of its requirements was checked. */
export const isKnown = ({ name, version }: ProfileResult): boolean => profileNamed(name)?.version === version;

/** The name of the gateway of a claim, on one line. */
export const gatewayName = ({ claim }: MatrixClaim): string => oneLine(claim.gateway.name, 100);

/** `1.42.0`, or that the claim does not state it. */
export const versionText = ({ gateway }: Claim): string => gateway.version ?? "version not stated";

/** The same with twelve characters of each commit, for tables. */
export const shortVersion = (claim: Claim): string =>
  oneLine(versionText(claim), 100).replaceAll(/\b([0-9a-f]{12})[0-9a-f]{28}\b/g, "$1");

/** The day of the run: `2026-11-27`. */
export const dayOf = ({ run }: Claim): string => run.startedAt.slice(0, 10);

/** What the sections of the page show, the claims of one gateway next to each other, the newest first. */
export interface Shown {
  readonly claims: readonly MatrixClaim[];
  readonly profiles: readonly string[];
  readonly anchors: Anchors;
}

import * as z from "zod";
import { PROFILE_RESULTS, type ProfileResult, REQUIREMENT_RESULTS, type RequirementResult } from "../record/index.ts";
import type { Claim } from "./claim.ts";
import { byGateway } from "./claim-order.ts";

/** Version of the feed of changes. */
const CHANGES_VERSION = 1;

const DIRECTIONS = ["better", "worse", "other"] as const;
type Direction = (typeof DIRECTIONS)[number];

const buildSchema = z.strictObject({
  /** As the claim states it; `null`: not stated. */
  version: z.string().nullable(),
  startedAt: z.iso.datetime(),
  runId: z.string(),
  /** Digest of the record that the claim follows from. */
  recordSha256: z.string(),
});

const changeSchema = z.strictObject({
  gateway: z.string(),
  from: buildSchema,
  to: buildSchema,
  /** Profiles with another result; `null`: the claim does not have the profile. */
  profiles: z.array(
    z.strictObject({
      name: z.string(),
      from: z.enum(PROFILE_RESULTS).nullable(),
      to: z.enum(PROFILE_RESULTS).nullable(),
      direction: z.enum(DIRECTIONS),
    }),
  ),
  /** Requirements with another result; `null`: the profile does not have the requirement. */
  requirements: z.array(
    z.strictObject({
      profile: z.string(),
      id: z.string(),
      from: z.enum(REQUIREMENT_RESULTS).nullable(),
      to: z.enum(REQUIREMENT_RESULTS).nullable(),
      direction: z.enum(DIRECTIONS),
      /** Why the later result is not met. */
      why: z.string().optional(),
    }),
  ),
  /** What else differs, so that a result may differ for another reason than the gateway. */
  also: z.array(z.string()),
});

const changesSchema = z
  .strictObject({
    schemaVersion: z.literal(CHANGES_VERSION),
    kind: z.literal("gauntlet-changes"),
    /** Between consecutive versions of one gateway, the newest first; a pair without any difference is in it as well. */
    changes: z.array(changeSchema),
  })
  .meta({ title: "Gauntlet changes", description: "What changed between the claims of the versions of gateways." });

export type ClaimChange = z.infer<typeof changeSchema>;
type ClaimChanges = z.infer<typeof changesSchema>;

/** JSON Schema of the feed; published as `schemas/changes.schema.json`. */
export function changesJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(changesSchema, { reused: "ref" }) as Record<string, unknown>;
}

/** What changed from each version of a gateway to the next. */
export function changesOf(files: readonly { readonly claim: Claim }[]): ClaimChanges {
  const changes = byGateway(files).flatMap(({ claims }) =>
    claims.slice(1).map((older, index) => changeOf(older.claim, (claims[index] ?? older).claim)),
  );
  return { schemaVersion: CHANGES_VERSION, kind: "gauntlet-changes", changes };
}

function changeOf(from: Claim, to: Claim): ClaimChange {
  return {
    gateway: to.gateway.name,
    from: buildOf(from),
    to: buildOf(to),
    profiles: pairs(from.profiles, to.profiles, ({ name }) => name).flatMap(([name, before, after]) =>
      before?.result === after?.result
        ? []
        : [{ name, from: before?.result ?? null, to: after?.result ?? null, direction: ofProfile(before, after) }],
    ),
    requirements: pairs(from.profiles, to.profiles, ({ name }) => name).flatMap(([profile, before, after]) =>
      before === undefined || after === undefined ? [] : requirementChanges(profile, before, after),
    ),
    also: alsoChanged(from, to),
  };
}

const buildOf = ({ gateway, run, record }: Claim): ClaimChange["from"] => ({
  version: gateway.version,
  startedAt: run.startedAt,
  runId: run.id,
  recordSha256: record.sha256,
});

function requirementChanges(profile: string, from: ProfileResult, to: ProfileResult): ClaimChange["requirements"] {
  return pairs(from.requirements, to.requirements, ({ id }) => id).flatMap(([id, before, after]) =>
    before?.result === after?.result
      ? []
      : [
          {
            profile,
            id,
            from: before?.result ?? null,
            to: after?.result ?? null,
            direction: directionOf(before?.result, after?.result, { best: "met", worst: "broken" }),
            ...(after?.why === undefined ? {} : { why: after.why }),
          },
        ],
  );
}

const ofProfile = (before: ProfileResult | undefined, after: ProfileResult | undefined): Direction =>
  directionOf(before?.result, after?.result, { best: "conformant", worst: "not-conformant" });

type Result = ProfileResult["result"] | RequirementResult["result"];

/** Only what ends at a known violation or a known success has a direction: what was not decided may be either. */
function directionOf(
  from: Result | undefined,
  to: Result | undefined,
  { best, worst }: { readonly best: Result; readonly worst: Result },
): Direction {
  if (from === undefined || to === undefined) return "other";
  if (to === worst) return "worse";
  return to === best ? "better" : "other";
}

/** Parts of two claims that can explain another result although the gateway behaves the same. */
const ALSO: readonly (readonly [what: string, partOf: (claim: Claim) => unknown])[] = [
  ["how the gateway was started", ({ gateway }) => gateway.startedWith],
  ["the version of Gauntlet", ({ harness }) => [harness.version, harness.commit, harness.dirty]],
  ["the requirement set", ({ requirementSet }) => requirementSet],
  ["the contract", ({ contract, reading }) => [contract, reading]],
  ["the declared optional parts", ({ declared }) => [...declared].sort()],
  ["the waivers", ({ waivers }) => waivers],
  ["the limitations", ({ limitations }) => limitations],
];

function alsoChanged(from: Claim, to: Claim): string[] {
  const differs = (partOf: (claim: Claim) => unknown) => JSON.stringify(partOf(from)) !== JSON.stringify(partOf(to));
  const redefined = pairs(from.profiles, to.profiles, ({ name }) => name).flatMap(([name, before, after]) =>
    before !== undefined && after !== undefined && before.sha256 !== after.sha256
      ? [`profile ${name}: version ${before.version}, now ${after.version}`]
      : [],
  );
  return [...ALSO.flatMap(([what, partOf]) => (differs(partOf) ? [what] : [])), ...redefined];
}

/** Items of two lists by key, in the order of the later list. */
function pairs<T>(
  from: readonly T[],
  to: readonly T[],
  keyOf: (item: T) => string,
): (readonly [key: string, from: T | undefined, to: T | undefined])[] {
  const [before, after] = [from, to].map((list) => new Map(list.map((item) => [keyOf(item), item])));
  return [...new Set([...to, ...from].map(keyOf))].map((key) => [key, before?.get(key), after?.get(key)]);
}

import type { ProfileResult, RequirementResult } from "../record/index.ts";
import { profileHash, profileNamed } from "../requirements/index.ts";
import type { Claim } from "./claim.ts";

type Profile = ProfileResult;

/**
 * Where a claim contradicts itself, or the profiles that this program knows. Gauntlet writes no such claim, so it was changed
 * afterwards: for example a conformant profile in which a MUST is broken, or that lacks requirements.
 *
 * @returns one line for each place: JSON pointer, what it says, and what it should say.
 */
export function contradictionsOf(claim: Claim): string[] {
  return [
    ...missingLimitations(claim),
    ...duplicatesIn(claim.profiles, ({ name }) => name).map(
      ([index, name]) => `/profiles/${index}/name: ${JSON.stringify(name)} occurs twice`,
    ),
    ...claim.profiles.flatMap((profile, index) =>
      [...ofProfile(profile, claim.limitations), ...ofKnownProfile(profile)].map(
        ([at, text]) => `/profiles/${index}${at}: ${text}`,
      ),
    ),
  ];
}

/** Facts in other fields that require a limitation. */
function missingLimitations({ limitations, harness, run, gateway, profiles }: Claim): string[] {
  if (limitations.length > 0) return [];
  const waived = profiles.some(({ requirements }) => requirements.some(({ result }) => result === "waived"));
  const reasons: readonly (readonly [boolean, string])[] = [
    [harness.commit === undefined, "/harness/commit is missing"],
    [harness.dirty === true, "/harness/dirty is true"],
    [!run.complete, "/run/complete is false"],
    [gateway.version === null, "/gateway/version is null"],
    [gateway.startedWith === null, "/gateway/startedWith is null"],
    [waived, "a requirement is waived"],
  ];
  return reasons.flatMap(([holds, text]) => (holds ? [`/limitations: is empty, although ${text}`] : []));
}

type Problem = readonly [at: string, text: string];

function ofProfile({ result, requirements }: Profile, limitations: readonly string[]): Problem[] {
  const musts = requirements.flatMap((one, index) => (one.level === "MUST" ? [{ ...one, index }] : []));
  const broken = musts.find((one) => one.result === "broken");
  const repeated = duplicatesIn(requirements, ({ id }) => id).map(
    ([index, id]): Problem => [`/requirements/${index}/id`, `${JSON.stringify(id)} occurs twice`],
  );
  if (broken !== undefined && result !== "not-conformant")
    return [...repeated, ["/result", `is ${result}, although /requirements/${broken.index} (${broken.id}) is broken`]];
  if (broken === undefined && result === "not-conformant")
    return [...repeated, ["/result", "is not-conformant, although no MUST is broken"]];
  if (result !== "conformant") return repeated;
  const open = musts.find((one) => one.result !== "met" && one.result !== "not-applicable");
  if (open !== undefined)
    return [
      ...repeated,
      ["/result", `is conformant, although /requirements/${open.index} (${open.id}) is ${open.result}`],
    ];
  if (!musts.some((one) => isMetWithEvidence(one)))
    return [...repeated, ["/result", "is conformant, although no MUST was met by a check"]];
  if (limitations.length > 0)
    return [...repeated, ["/result", "is conformant, although /limitations says why no profile can be"]];
  return repeated;
}

const isMetWithEvidence = ({ result, met, checks }: RequirementResult): boolean =>
  result === "met" && met > 0 && checks.length > 0;

/** A frozen profile has exactly its requirements: without this, a claim could omit those that are broken. */
function ofKnownProfile({ name, version, sha256, requirements }: Profile): Problem[] {
  const known = profileNamed(name);
  if (known === undefined || known.version !== version) return [];
  if (profileHash(known) !== sha256)
    return [["/sha256", `is not that of version ${version} of ${name}: expected ${profileHash(known)}`]];
  const stated = new Map(requirements.map(({ id, level }) => [id, level]));
  const wrong = known.requirements.find(({ id, level }) => stated.get(id) !== level);
  if (wrong !== undefined) return [["/requirements", `must have ${wrong.id} (${wrong.level})`]];
  return requirements.length === known.requirements.length
    ? []
    : [
        [
          "/requirements",
          `has ${requirements.length} entries, version ${version} of ${name} has ${known.requirements.length}`,
        ],
      ];
}

/** Later items whose key an earlier one has, by index. */
function duplicatesIn<T>(items: readonly T[], keyOf: (item: T) => string): [number, string][] {
  const seen = new Set<string>();
  return items.flatMap((item, index): [number, string][] => {
    const key = keyOf(item);
    if (seen.has(key)) return [[index, key]];
    seen.add(key);
    return [];
  });
}

import { escapedJson } from "../core/index.ts";
import type { ProfileResult, RequirementResult } from "../record/index.ts";
import { type Profile as KnownProfile, profileHash, profileNamed } from "../requirements/index.ts";
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
      ([index, name]) => `/profiles/${index}/name: ${escapedJson(name)} occurs twice`,
    ),
    ...claim.profiles.flatMap((profile, index) =>
      [...ofProfile(profile, claim.limitations), ...withoutEvidence(profile), ...ofKnownProfile(profile, claim)].map(
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
    ([index, id]): Problem => [`/requirements/${index}/id`, `${escapedJson(id)} occurs twice`],
  );
  if (broken !== undefined && result !== "not-conformant")
    return [
      ...repeated,
      ["/result", `is ${result}, although /requirements/${broken.index} (${escapedJson(broken.id)}) is broken`],
    ];
  if (broken === undefined && result === "not-conformant")
    return [...repeated, ["/result", "is not-conformant, although no MUST is broken"]];
  if (result !== "conformant") return repeated;
  const open = musts.find((one) => one.result !== "met" && one.result !== "not-applicable");
  if (open !== undefined)
    return [
      ...repeated,
      ["/result", `is conformant, although /requirements/${open.index} (${escapedJson(open.id)}) is ${open.result}`],
    ];
  if (!musts.some((one) => isMetWithEvidence(one)))
    return [...repeated, ["/result", "is conformant, although no MUST was met by a check"]];
  if (limitations.length > 0)
    return [...repeated, ["/result", "is conformant, although /limitations says why no profile can be"]];
  return repeated;
}

const isMetWithEvidence = ({ result, met, checks }: RequirementResult): boolean =>
  result === "met" && met > 0 && checks.length > 0;

/** What a claim calls met although no check compared it. */
function withoutEvidence({ requirements }: Profile): Problem[] {
  return requirements.flatMap((one, index): Problem[] =>
    one.result !== "met" || isMetWithEvidence(one)
      ? []
      : [[`/requirements/${index}/result`, `is met, although no check compared ${escapedJson(one.id)}`]],
  );
}

/** A frozen profile has exactly its requirements: without this, a claim could omit those that are broken. */
function ofKnownProfile(
  { name, version, sha256, requirements }: Profile,
  { declared }: Pick<Claim, "declared">,
): Problem[] {
  const known = profileNamed(name);
  if (known === undefined || known.version !== version) return [];
  if (profileHash(known) !== sha256)
    return [["/sha256", `is not that of version ${version} of ${name}: expected ${profileHash(known)}`]];
  const stated = new Map(requirements.map(({ id, level }) => [id, level]));
  const wrong = known.requirements.find(({ id, level }) => stated.get(id) !== level);
  if (wrong !== undefined) return [["/requirements", `must have ${wrong.id} (${wrong.level})`]];
  if (requirements.length !== known.requirements.length)
    return [
      [
        "/requirements",
        `has ${requirements.length} entries, but version ${version} of ${name} has ${known.requirements.length}`,
      ],
    ];
  return notApplicable(requirements, known, declared);
}

/** A requirement may be not-applicable only if it belongs to an optional part that the target does not declare. */
function notApplicable(
  requirements: readonly RequirementResult[],
  known: KnownProfile,
  declared: readonly string[],
): Problem[] {
  const partOf = new Map(known.requirements.map(({ id, part }) => [id, part]));
  return requirements.flatMap(({ id, result }, index): Problem[] => {
    if (result !== "not-applicable") return [];
    const part = partOf.get(id as KnownProfile["requirements"][number]["id"]);
    if (part !== undefined && !declared.includes(part)) return [];
    const why = part === undefined ? `every target must meet ${id}` : `/declared has ${part}`;
    return [[`/requirements/${index}/result`, `is not-applicable, although ${why}`]];
  });
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

import type { ProfileResult } from "../../src/record/index.ts";

/** `chat: conformant · denials: not conformant (3 causes) · money: not claimed`: the claimed profiles first. */
export function describeProfiles(profiles: readonly ProfileResult[]): string {
  return claimedFirst(profiles)
    .map((profile) => `${profile.name}: ${describeProfile(profile)}`)
    .join(" · ");
}

/** The chosen profiles before the others. */
export function claimedFirst(profiles: readonly ProfileResult[]): ProfileResult[] {
  return [...profiles.filter(({ claimed }) => claimed), ...profiles.filter(({ claimed }) => !claimed)];
}

/** `not conformant (3 causes)`. */
export function describeProfile({ result, causes, requirements }: ProfileResult): string {
  switch (result) {
    case "conformant":
      return "conformant";
    case "not-conformant":
      return `not conformant (${causes === 1 ? "1 cause" : `${causes} causes`})`;
    case "partial": {
      const open = countOpen(requirements);
      // In a claim, what was measured may be complete, and the claim itself limited.
      return open === "" ? "partial" : `partial (${open})`;
    }
    case "not-claimed":
      return "not claimed";
  }
}

const OPEN = ["blocked", "skipped", "waived", "undecided", "not-judged"] as const;

const openOf = (requirements: ProfileResult["requirements"]) =>
  requirements.filter(({ level, result }) => level === "MUST" && OPEN.some((open) => open === result));

/** `2 blocked, 1 skipped`: how many MUSTs of the profile are not known to be met, by the reason. */
function countOpen(requirements: ProfileResult["requirements"]): string {
  const open = openOf(requirements);
  return OPEN.flatMap((kind) => {
    const count = open.filter(({ result }) => result === kind).length;
    return count === 0 ? [] : [`${count} ${kind.replace("-", " ")}`];
  }).join(", ");
}

/** Maximum number of requirements that a reason names. */
const MAX_NAMED = 5;

/** Why a chosen profile is not conformant, as a reason of the verdict. */
export function describePartial(profile: ProfileResult): string {
  const { name, result, requirements } = profile;
  const decisive =
    result === "not-conformant"
      ? requirements.filter((one) => one.level === "MUST" && one.result === "broken")
      : openOf(requirements);
  const [first] = decisive;
  const ids = decisive.slice(0, MAX_NAMED).map(({ id }) => id);
  const more = decisive.length - ids.length;
  const named = `${ids.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `profile ${name}: ${describeProfile(profile)}: ${named}${first?.why === undefined ? "" : `. ${first.id}: ${first.why}`}`;
}

import { describe, expect, test } from "vitest";
import { coverageOf } from "../../src/checks/index.ts";
import {
  EXCLUSIONS,
  OPTIONAL_PARTS,
  PROFILES,
  profileHash,
  REQUIREMENTS,
  requirementOf,
  UNPROFILED,
} from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";

/**
 * The hash of every version of every profile. A profile that changes gets a new version, and a line here; a line is never changed
 * after a release, because claims refer to it.
 */
const FROZEN: Readonly<Record<string, readonly string[]>> = {
  chat: ["dd6748c33f38e3e541c4239dc1d05c1f8a22b4417fcdf1b7feb80844af30b5a6"],
  messages: ["3cb789fa4b0ac7e6f8f369cba6037fed684852efde6492f2c1f5772b3cbb09c9"],
  "models-and-auth": ["4691d7cc5028098a3b0cce675edc365e67517a9776868cf247e7558541d44887"],
  denials: ["1d8315ae9f37adeb9a0e714023557aadf9d16ef1eccf0b5f7287def0c39154a7"],
  limits: ["b8a2f36ef901aede289783947ad524edf60951937e943412e5ccf56d99a792e8"],
  money: ["c69031afdc703f8caf5da3b857b31ae04d31e0b49c3e67d32a22246477a6bf54"],
  streaming: ["e31690f0b0aa0af0e0ae4cd58743d4c492dda00efc328c449d626fd9d9d46788"],
  upstream: ["3de8a9c4637844b0976ae0cea0f14669ff3df326b01734f6f4cd6845310680c6"],
  replicas: ["d89f4fbae6dbfb5504186c9dbaa2e5f2666707bb123765d66a51858f7cddc164"],
  http: ["64c8f0fe974eb05845d73ad1960ccfe9841d8d809193395c0ff4d237b1be6cc8"],
  "openai-sdk": ["dd29e6334b381100f05935c2b254ce2e1f3e10bbdce2f950bf929294f31e47ac"],
  "anthropic-sdk": ["a5829c5ea0edf244e8997e7c497d787bb68ccc2a446bdd0f0ecec99ff8779d12"],
};

const RANK = { OPEN: 0, MAY: 1, SHOULD: 2, MUST: 3 } as const;

describe("the profiles", () => {
  test.each(PROFILES)("$name is frozen: a change without a new version fails here", (profile) => {
    expect(profileHash(profile)).toBe(FROZEN[profile.name]?.[profile.version - 1]);
    expect(FROZEN[profile.name]).toHaveLength(profile.version);
  });

  test("the hash depends on requirements, levels and suites, and not on their order or on the explanation", () => {
    const [profile] = PROFILES;
    if (profile === undefined) throw new Error("there is no profile");
    const hash = profileHash(profile);
    const [first, ...others] = profile.requirements;
    if (first === undefined) throw new Error("the profile has no requirement");
    expect(profileHash({ ...profile, requirements: [...others, first], why: "", title: "" })).toBe(hash);
    const changed = [
      { ...profile, requirements: others },
      { ...profile, requirements: [{ ...first, level: "SHOULD" as const }, ...others] },
      { ...profile, requirements: [{ ...first, part: "tiers" as const }, ...others] },
      { ...profile, suites: profile.suites.slice(1) },
      { ...profile, dialect: "messages" as const },
      { ...profile, optionalChecks: { "chat.minimal": "tiers" as const } },
    ];
    expect(new Set([hash, ...changed.map(profileHash)]).size).toBe(changed.length + 1);
  });

  test("every requirement of the gateway with a level is in a profile, or the reason why not is stated", () => {
    const inProfiles = new Set(PROFILES.flatMap(({ requirements }) => requirements.map(({ id }) => id)));
    const excluded = new Set(EXCLUSIONS.map(({ requirement }) => requirement));
    const missing = REQUIREMENTS.filter(
      ({ id, binds, level }) =>
        binds === "gateway" && level !== "OPEN" && !excluded.has(id) && !inProfiles.has(id) && !(id in UNPROFILED),
    );
    expect(missing.map(({ id }) => id)).toEqual([]);
    expect(Object.keys(UNPROFILED).filter((id) => inProfiles.has(id as never))).toEqual([]);
  });

  test.each(PROFILES)("$name has each requirement once, lowers none, and its suites judge all of them", (profile) => {
    const ids = profile.requirements.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    for (const { id, level } of profile.requirements) {
      const requirement = requirementOf(id);
      expect(RANK[level], id).toBeGreaterThanOrEqual(RANK[requirement.level]);
      expect(requirement.binds, id).toBe("gateway");
    }
    const judges = coverageOf(CHECKS).filter(
      ({ suite, dialect }) =>
        profile.suites.includes(suite) &&
        (profile.dialect === undefined || dialect === "any" || dialect === profile.dialect),
    );
    const judged = new Set<string>(judges.flatMap(({ requirements }) => requirements));
    expect(ids.filter((id) => !judged.has(id))).toEqual([]);
    // A suite that judges nothing of the profile would only be noise in its hash.
    const used = profile.suites.filter((suite) =>
      judges.some((judge) => judge.suite === suite && ids.some((id) => judge.requirements.includes(id))),
    );
    expect(used).toEqual(profile.suites);
  });

  test("optional checks exist", () => {
    const ids = new Set<string>(CHECKS.map(({ id }) => id));
    const optional = PROFILES.flatMap(({ optionalChecks }) => Object.entries(optionalChecks));
    expect(optional.filter(([check, part]) => !ids.has(check) || !OPTIONAL_PARTS.includes(part))).toEqual([]);
  });

  test("what real clients need is MUST in the profiles of the SDKs, and all of it is in one of them", () => {
    const levels = new Map(
      PROFILES.filter(({ name }) => name.endsWith("-sdk")).flatMap(({ requirements }) =>
        requirements.map(({ id, level }) => [id as string, level] as const),
      ),
    );
    const compat = REQUIREMENTS.filter(({ layer }) => layer === "compat").map(({ id }) => id);
    expect(compat.length).toBeGreaterThan(20);
    expect(compat.filter((id) => levels.get(id) !== "MUST")).toEqual([]);
  });
});

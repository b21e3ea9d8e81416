import { expect, test } from "vitest";
import { byGateway, type Claim, changesOf } from "../../src/claims/index.ts";
import { conformantClaim, withRequirements } from "../support/claims.ts";

const built = (version: string | null, day: number, of: Claim = conformantClaim()): { readonly claim: Claim } => ({
  claim: {
    ...of,
    gateway: { ...of.gateway, version },
    run: { ...of.run, id: `r${day}`, startedAt: `2026-11-${day}T12:00:00.000Z` },
  },
});

type Result = Claim["profiles"][number]["requirements"][number]["result"];

test.each<[Result, Result, string]>([
  ["broken", "met", "better"],
  ["undecided", "met", "better"],
  ["met", "broken", "worse"],
  ["skipped", "broken", "worse"],
  ["broken", "waived", "other"],
  ["broken", "skipped", "other"],
  ["broken", "undecided", "other"],
  ["broken", "not-applicable", "other"],
  ["met", "undecided", "other"],
  ["met", "skipped", "other"],
  ["blocked", "skipped", "other"],
])("a requirement from %s to %s is %s", (from, to, direction) => {
  const of = (result: Result) =>
    withRequirements(conformantClaim(), "chat", ({ id }) => (id === "CHAT-3" ? { result } : {}));
  const { changes } = changesOf([built("1", 10, of(from)), built("2", 11, of(to))]);
  expect(changes).toMatchObject([{ requirements: [{ profile: "chat", id: "CHAT-3", from, to, direction }] }]);
});

type ProfileResult = Claim["profiles"][number]["result"];

test.each<[ProfileResult, ProfileResult, string]>([
  ["partial", "conformant", "better"],
  ["conformant", "partial", "other"],
  ["not-conformant", "partial", "other"],
  ["not-conformant", "not-claimed", "other"],
  ["not-claimed", "not-conformant", "worse"],
])("a profile from %s to %s is %s", (from, to, direction) => {
  const of = (result: ProfileResult) => {
    const claim = conformantClaim();
    return { ...claim, profiles: claim.profiles.map((one) => (one.name === "chat" ? { ...one, result } : one)) };
  };
  const { changes } = changesOf([built("1", 10, of(from)), built("2", 11, of(to))]);
  expect(changes).toMatchObject([{ profiles: [{ name: "chat", from, to, direction }] }]);
});

test.each<[string, readonly (readonly [version: string | null, day: number])[], readonly (string | null)[]]>([
  [
    "missing numbers are 0",
    [
      ["1.2", 12],
      ["1.2.1", 10],
      ["1.2.0", 11],
    ],
    ["1.2.1", "1.2", "1.2.0"],
  ],
  [
    "by number",
    [
      ["1.9", 12],
      ["1.10", 10],
      ["v1.9.1", 11],
    ],
    ["1.10", "v1.9.1", "1.9"],
  ],
  [
    "one version without a number: by date",
    [
      ["1.9", 12],
      ["nightly", 11],
      ["1.10", 10],
    ],
    ["1.9", "nightly", "1.10"],
  ],
  [
    "one version that is not stated: by date",
    [
      [null, 11],
      ["1.10", 10],
      ["1.9", 12],
    ],
    ["1.9", null, "1.10"],
  ],
])("versions: %s, in any order of files", (_, given, expected) => {
  const files = given.map(([version, day]) => built(version, day));
  for (const first of files.keys()) {
    const rotated = [...files.slice(first), ...files.slice(0, first)];
    for (const order of [rotated, [...rotated].reverse()])
      expect(byGateway(order).map(({ claims }) => claims.map(({ claim }) => claim.gateway.version))).toEqual([
        expected,
      ]);
  }
});

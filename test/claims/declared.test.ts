import { expect, test } from "vitest";
import { parse } from "yaml";
import { declaredIn } from "../../src/run/claims/declared-in.ts";
import { claimedBy } from "../../src/run/conformance/claimed-profiles.ts";
import { parseTarget } from "../../src/target/index.ts";

const ENVIRONMENT = { K: "sk-1" };

test.each<[string, string, string[]]>([
  ["nothing but what every gateway has", "", ["dialects.both"]],
  ["one dialect", "dialects: [chat]", []],
  [
    "models for both dialects, and for one",
    "models: { images: m, structured: { messages: m } }",
    ["dialects.both", "models.chat.images", "models.messages.images", "models.messages.structured"],
  ],
  ["a tier", "tiers: { starter: { key: env:K } }", ["dialects.both", "tiers"]],
  ["no tier", "tiers: {}", ["dialects.both"]],
])("the record of a run gives the parts that its target declared: %s", (_, yaml, expected) => {
  const text = `baseUrl: http://127.0.0.1:4000/v1\nkeys: { valid: env:K }\n${yaml}\n`;
  const target = parseTarget(text, "gauntlet.yaml", ENVIRONMENT);
  expect(declaredIn(parse(text))).toEqual(expected);
  expect([...(claimedBy(target, ["chat"])?.declared ?? [])].sort()).toEqual(expected);
});

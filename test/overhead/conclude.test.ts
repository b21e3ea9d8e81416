import { expect, test } from "vitest";
import { conclude } from "../../src/overhead/index.ts";
import type { Overhead } from "../../src/record/index.ts";
import { overheadLevel, overheadOf } from "../support/overhead-records.ts";

const GOOD = overheadOf([overheadLevel()]);
const DENIED = overheadLevel({ errors: 9, errorKinds: [{ outcome: "denied", what: "rate_limit_exceeded", count: 9 }] });
const LOST = overheadLevel({ errors: 9, errorKinds: [{ outcome: "failed", what: "502", count: 9 }] });
const NOTHING = { value: null, low: null, high: null };
const EMPTY = overheadLevel({ addedMs: { p50: NOTHING, p90: NOTHING, p99: NOTHING } });

function armOf(...levels: Overhead["arms"][number]["levels"]): Overhead {
  return { ...GOOD, arms: [{ name: "gateway", levels }] };
}

test.each<[what: string, found: Overhead, word: string, says: RegExp | undefined]>([
  ["everything was measured", GOOD, "pass", undefined],
  ["requests were lost", armOf(overheadLevel(), LOST), "fail", /gateway, 8 clients.*9 of 4000.*9 502/],
  ["requests were denied", armOf(DENIED), "inconclusive", /9 rate_limit_exceeded\); a key with higher limits/],
  ["too little was served", armOf(EMPTY), "inconclusive", /too few requests were served/],
  ["a gateway was not measured", armOf(), "inconclusive", /nothing was measured/],
  [
    "the upstream differs from itself",
    { ...GOOD, control: { ...GOOD.control, fit: false, message: "It differs." } },
    "inconclusive",
    /It differs/,
  ],
  [
    "the upstream loses requests as the gateway does",
    { ...armOf(LOST), control: { ...GOOD.control, levels: [LOST] } },
    "inconclusive",
    /the upstream itself/,
  ],
])("%s", (_, found, word, says) => {
  const conclusion = conclude(found);
  expect(conclusion.result).toBe(word);
  if (says === undefined) expect(conclusion.reasons).toEqual([]);
  else expect(conclusion.reasons.join("\n")).toMatch(says);
});

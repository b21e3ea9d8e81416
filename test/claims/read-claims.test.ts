import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Claim, claimText, readClaims } from "../../src/claims/index.ts";
import { UsageError } from "../../src/core/index.ts";
import { PROFILES } from "../../src/requirements/index.ts";
import { conformantClaim, withRequirements } from "../support/claims.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const path = join(folder.path, "claim.json");

/** Why a claim cannot be shown; empty if it can. */
function problemOf(claim: Claim): string {
  writeFileSync(path, claimText(claim));
  try {
    readClaims([path]);
    return "";
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** A profile with a requirement of an optional part, and one of every target. */
const optional = PROFILES.find(({ requirements }) => requirements.some(({ part }) => part !== undefined));
const part = optional?.requirements.find((one) => one.part !== undefined)?.part ?? "";

test("a conformant claim is consistent", () => {
  expect(part).not.toBe("");
  expect(problemOf(conformantClaim())).toBe("");
});

test("every requirement that is met needs a check that compared it", () => {
  const emptied = (overrides: object) =>
    problemOf(withRequirements(conformantClaim(), "chat", ({ id }) => (id === "CHAT-3" ? overrides : {})));
  const why = /\/profiles\/0\/requirements\/\d+\/result: is met, although no check compared "CHAT-3"/;
  expect(emptied({ met: 0 })).toMatch(why);
  expect(emptied({ checks: [] })).toMatch(why);
});

test("a requirement of every target always applies", () => {
  const claim = withRequirements(conformantClaim(), "chat", ({ id }) =>
    id === "CHAT-3" ? { result: "not-applicable", checks: [], met: 0 } : {},
  );
  expect(problemOf(claim)).toMatch(
    /\/requirements\/\d+\/result: is not-applicable, although every target must meet CHAT-3/,
  );
});

test("a requirement of a part that the target declares applies", () => {
  expect(problemOf(conformantClaim({ declared: [part] }))).toContain(
    `/result: is not-applicable, although /declared has ${part}`,
  );
});

test("text of a claim does not control the terminal that shows an error", async () => {
  const hidden = "CHAT-3\u001b[2K\u001b[1GVERIFIED\u009b2K";
  const claim = withRequirements(conformantClaim(), "chat", ({ id }) =>
    id === "CHAT-3" ? { id: hidden, result: "broken" } : {},
  );
  const problem = problemOf(claim);
  expect(problem).toMatch(/is conformant, although \/requirements\/\d+ \("CHAT-3\\u001b/);
  // Ids of fields come from the parser's own message.
  writeFileSync(path, JSON.stringify({ ...conformantClaim(), "x\u001b[2Ky\u009b": 1 }));
  const { code, stderr } = await gauntlet(["matrix", path, "--out", join(folder.path, "out")]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("x⟨U+001B⟩[2Ky⟨U+009B⟩")]);
});

test("a claim as a file holds no control character", () => {
  const text = claimText(conformantClaim({ reproduce: "a\u007f\u0085\u009b2K\u001b" }));
  expect(text).not.toMatch(/[^\n\P{Cc}]/u);
  expect(JSON.parse(text).reproduce).toBe("a\u007f\u0085\u009b2K\u001b");
});

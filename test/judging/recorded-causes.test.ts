import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rejudge } from "../../src/commands/rejudge/run.ts";
import type { Cause, CheckResult } from "../../src/record/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

/** Runs against gateways with several defects each, recorded once; their causes were written by hand. */
const FIXTURES = new URL("../fixtures/causes/", import.meta.url).pathname;

interface ExpectedCause {
  readonly requirement: string;
  readonly weight: "fail" | "warn";
  readonly title: RegExp;
  /** Check instances that it explains. */
  readonly checks: number;
}

const EXPECTED: Readonly<Record<string, readonly ExpectedCause[]>> = {
  // A machine on which other processes used all CPU time, and a gateway that denies unknown keys with 403.
  "busy-machine": [
    {
      requirement: "AUTH-3",
      weight: "fail",
      title: /^a request with an invalid key: expected 401, got 403 invalid_api_key$/,
      checks: 21,
    },
  ],
  // A proxy that responds with 404 for a few seconds after provider failures, and a gateway that denies unknown keys with 403.
  "circuit-breaker": [
    {
      requirement: "ERR-5XX-1",
      weight: "fail",
      title: /^a request that the gateway or its provider cannot complete: expected 5xx, got 404$/,
      checks: 5,
    },
    {
      requirement: "ERR-401-INVALID",
      weight: "fail",
      title: /^a request without a valid key: expected 401, got 403 invalid_api_key$/,
      checks: 1,
    },
  ],
  // No denial has a reason, and a key with another scheme than Bearer is served.
  "denials-without-reasons": [
    {
      requirement: "ERR-HDR-1",
      weight: "fail",
      title: /^the reason of these denials is missing: expected "invalid_api_key", "key_revoked", .* and \d+ more$/,
      checks: 64,
    },
    {
      requirement: "AUTH-5",
      weight: "warn",
      title: /^a request with a malformed credential: expected 401, got 200$/,
      checks: 4,
    },
  ],
  // Bodies of HEAD and streams with a wrong length put bytes on connections that belong to no response, and revoked keys get 403.
  "desynchronised-connections": [
    {
      requirement: "HTTP-FRAMING",
      weight: "fail",
      title: /^responses \(of \d+\) that are followed by bytes that belong to no message: expected 0, got \d+$/,
      checks: 8,
    },
    {
      requirement: "AUTH-4",
      weight: "fail",
      title: /^a request with a revoked key: expected 401, got 403 key_revoked$/,
      checks: 3,
    },
  ],
  // After 150 requests nothing gets a response; before that, unknown keys got 403.
  "gateway-stops": [
    {
      requirement: "KEEPS-RESPONDING",
      weight: "fail",
      title: /^the gateway stopped responding after x\d+; in flight at that moment: x\d+ POST /,
      checks: 1,
    },
    {
      requirement: "AUTH-3",
      weight: "fail",
      title: /^a request with an invalid key: expected 401, got 403 invalid_api_key$/,
      checks: 15,
    },
  ],
};

interface Document {
  readonly causes: readonly Cause[];
  readonly changed: readonly unknown[];
  readonly checks: readonly Pick<CheckResult, "id" | "status" | "reason">[];
}

async function judgedAgain(name: string): Promise<Document> {
  using folder = temporaryFolder();
  const dir = join(folder.path, name);
  cpSync(join(FIXTURES, name), dir, { recursive: true });
  writeFileSync(join(dir, "run.json"), gunzipSync(readFileSync(join(dir, "run.json.gz"))));
  rmSync(join(dir, "run.json.gz"));
  return (await rejudge({ dir })).document as unknown as Document;
}

describe("causes of a recorded run", () => {
  test("each fixture has its expected causes", () => {
    expect(readdirSync(FIXTURES).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  test.each(Object.entries(EXPECTED))("%s: at most three, the most telling first", async (name, expected) => {
    const { causes } = await judgedAgain(name);
    expect(
      causes.map(({ requirement, weight, title, checks }) => ({ requirement, weight, title, checks: checks.length })),
    ).toEqual(expected.map((cause) => ({ ...cause, title: expect.stringMatching(cause.title) })));
    expect(causes.length).toBeLessThanOrEqual(3);
  });

  test("a busy machine is the one reason for everything that it left undecided", async () => {
    const { checks } = await judgedAgain("busy-machine");
    const undecided = checks.filter(({ status }) => status === "inconclusive");
    expect(undecided).toHaveLength(7);
    expect(new Set(undecided.map(({ reason }) => reason?.kind))).toEqual(new Set(["generator-late"]));
  });
});

import { expect, test } from "vitest";
import { Pacing } from "../../../src/checks/traffic/pacing.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { seen } from "../../support/seen-response.ts";

const TARGET = parseTarget("baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n", "t.yaml", {
  K: "ck-pacing-0123456789abcdef",
});

function pacing() {
  let nowMs = 0;
  const made = new Pacing({
    target: () => TARGET,
    nowMs: () => nowMs,
    signal: new AbortController().signal,
    onWait: undefined,
    factor: () => 1,
  });
  return {
    made,
    /** Whether a request that is denied now is sent again after a wait. */
    waitsAfterDenial: () => {
      nowMs += 10_000;
      const denial = { status: 429, reason: "rate_limit_exceeded", intent: "valid" } as const;
      return made.slowDownFor(seen({ ...denial, sentMs: nowMs, endMs: nowMs + 1 }));
    },
  };
}

test("an account that denies everything is not waited for, although the model list is served", () => {
  const { made, waitsAfterDenial } = pacing();
  const waited = Array.from({ length: 8 }, () => {
    made.noteFinal(seen({ endpoint: "models", sentMs: 0, endMs: 1 }));
    return waitsAfterDenial();
  });
  expect(waited).toEqual([true, true, true, true, true, false, false, false]);
});

test("an account that serves a request again is waited for again", () => {
  const { made, waitsAfterDenial } = pacing();
  for (let count = 0; count < 6; count++) waitsAfterDenial();
  expect(waitsAfterDenial()).toBe(false);
  made.noteFinal(seen({ sentMs: 0, endMs: 1 }));
  expect(waitsAfterDenial()).toBe(true);
});

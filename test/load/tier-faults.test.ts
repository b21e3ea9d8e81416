import { describe, expect, test } from "vitest";
import { brokenIn, loadGateway } from "../prove/load-gateway.ts";

/**
 * What only load shows, and the name under which a tier run must find it, within the phases that need no minute's
 * window. `test/prove/load-matrix.ts` runs all phases against every fault.
 */
const FAULTS: readonly (readonly [fault: string, finding: string])[] = [
  ["slots.one-too-many", "slots.exceeded"],
  ["slots.one-too-few", "slots.denied-early"],
  ["slots.per-key", "slots.exceeded"],
  ["slots.never-enforced", "slots.not-enforced"],
  ["slots.freed-when-stream-begins", "slots.exceeded"],
  ["slots.freed-during-stream", "slots.exceeded"],
  ["slots.checked-before-taken", "slots.exceeded"],
  ["slots.leaked-by-streams", "slots.leaked"],
  ["load.answers-crossed", "answers.crossed"],
  ["load.pieces-lost-when-busy", "answers.incomplete"],
  ["load.streams-cut-when-busy", "service.cut"],
  ["load.streams-stall-when-busy", "streams.stall"],
  ["load.streams-buffered-when-busy", "streams.buffered"],
  ["load.503-when-half-full", "service.failed"],
];

/** Sound gateways of unusual kinds. */
const VARIANTS = [
  "limits.fixed-window",
  "limits.token-bucket",
  "hints.http-date",
  "stream.crlf",
  "http.lower-case-headers",
  "limits.slots-freed-late",
];

describe.concurrent("a quick tier run", () => {
  test.each(FAULTS)("fails a gateway with %s for %s", { timeout: 120_000 }, async (fault, finding) => {
    const run = await loadGateway({ faults: [fault], length: "quick" });
    // On a machine that is too busy nothing is said about the gateway, which is right and shows nothing.
    if (!run.generator.valid) return expect(run.verdict).toBe("inconclusive");
    expect(brokenIn(run)).toContain(finding);
    expect(run.verdict).toBe("fail");
  });

  test.each(VARIANTS)("passes a gateway with %s", { timeout: 120_000 }, async (variant) => {
    const run = await loadGateway({ variants: [variant], length: "quick" });
    expect(brokenIn(run)).toEqual([]);
    expect(run.verdict).toBe(run.generator.valid ? "pass" : "inconclusive");
  });
});

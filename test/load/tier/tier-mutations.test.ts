// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import { brokenIn, loadGateway } from "../../../scripts/verify/load/load-gateway.ts";
import type { JudgedRun } from "../../../src/record/index.ts";

/**
 * Mutations that only load shows, and the name under which a tier run must report each, within the phases that need no one-minute
 * window. `scripts/verify/load/load-matrix.ts` runs all phases against every mutation.
 */
const MUTATIONS: readonly (readonly [mutation: string, finding: string])[] = [
  ["concurrency.one-too-many", "concurrency.exceeded"],
  ["concurrency.one-too-few", "concurrency.denied-early"],
  ["concurrency.per-key", "concurrency.exceeded"],
  ["concurrency.never-enforced", "concurrency.not-enforced"],
  ["concurrency.freed-when-stream-begins", "concurrency.exceeded"],
  ["concurrency.freed-during-stream", "concurrency.exceeded"],
  ["concurrency.checked-before-taken", "concurrency.exceeded"],
  ["concurrency.leaked-by-streams", "concurrency.leaked"],
  ["load.answers-crossed", "answers.crossed"],
  ["load.pieces-lost-when-busy", "answers.incomplete"],
  ["load.streams-cut-when-busy", "service.cut"],
  // A SHOULD: reported as a warning.
  ["load.streams-stall-when-busy", "streams.stall?"],
  ["load.streams-buffered-when-busy", "streams.buffered"],
  ["load.503-when-half-full", "service.failed"],
];

/** Valid variants. */
const VARIANTS = [
  "limits.fixed-window",
  "limits.token-bucket",
  "retry-after.http-date",
  "stream.crlf",
  "http.lower-case-headers",
  "limits.concurrency-freed-late",
];

/** Retries until the generator was on time: a run on a busy machine says nothing about the gateway. */
async function quickRun(options: Parameters<typeof loadGateway>[0], skip: (why: string) => void): Promise<JudgedRun> {
  for (let attempt = 1; ; attempt++) {
    const run = await loadGateway({ ...options, length: "quick" });
    if (run.generator.valid) return run;
    expect(run.verdict).not.toBe("pass");
    if (attempt === 3) skip(`the generator was not on time in ${attempt} runs: ${run.generator.problems.join("; ")}`);
  }
}

describe.concurrent("a quick tier run", () => {
  test.for(MUTATIONS)("finds a gateway with %s by %s", { timeout: 240_000 }, async ([mutation, finding], { skip }) => {
    const run = await quickRun({ mutations: [mutation] }, skip);
    expect(brokenIn(run)).toContain(finding);
    expect(run.verdict).toBe(finding.endsWith("?") ? "warn" : "fail");
  });

  test.for(VARIANTS)("passes a gateway with %s", { timeout: 240_000 }, async (variant, { skip }) => {
    const run = await quickRun({ variants: [variant] }, skip);
    expect(brokenIn(run)).toEqual([]);
    expect(run.verdict, run.reasons.map(({ text }) => text).join("; ")).toBe("pass");
  });
});

import { expect, type TestContext } from "vitest";
import type { JudgedRun } from "../../src/record/index.ts";

/**
 * On a machine that is too busy the run is inconclusive about the gateway: this is correct, but shows nothing, and counts as
 * skipped.
 */
export function skipWhereLate({ skip }: Pick<TestContext, "skip">, { verdict, generator, reasons }: JudgedRun): void {
  if (generator.valid) return;
  expect(verdict, reasons.map(({ text }) => text).join("; ")).toBe("inconclusive");
  skip(`the generator was late: ${generator.problems.join("; ")}`);
}

/** On a busy machine the generator may be late: then nothing about timing is decided, and the output says so. */
export function wasLate({ code, stdout }: { readonly code: number | null; readonly stdout: string }): boolean {
  if (!stdout.includes("this machine was too busy")) return false;
  expect([1, 4]).toContain(code);
  return true;
}

import { afterEach, expect, test, vi } from "vitest";
import { instancesOf, type Response, ResponsePacker, resultOf } from "../../src/checks/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { seen } from "../support/seen-response.ts";

const LISTS = 60;

/** A list of 1.2 MB. */
const listOf = (owner: string): string =>
  JSON.stringify({
    data: Array.from({ length: 4_000 }, (_, at) => ({
      id: `model-${at}`,
      owned_by: owner,
      description: "a".repeat(250),
    })),
  });

function packedLists(textOf: (at: number) => string): Response[] {
  const packer = new ResponsePacker();
  return Array.from({ length: LISTS }, (_, at) => {
    const response = seen({ sentMs: at, endMs: at + 1, endpoint: "models", intent: "valid", text: textOf(at) });
    response.pack(packer);
    return response;
  });
}

/** Number of body parses while all invariants judge these responses. */
function parsesWhileJudged(responses: readonly Response[]): number {
  const parse = vi.spyOn(JSON, "parse");
  const statuses = CHECKS.filter(({ kind }) => kind === "invariant")
    .flatMap(instancesOf)
    .map((instance) => resultOf(instance, responses, { attestations: [], durationMs: 0 }).status);
  expect(statuses).not.toContain("harness-error");
  expect(statuses).toContain("pass");
  return parse.mock.calls.filter(([text]) => String(text).length > 1_000_000).length;
}

afterEach(() => void vi.restoreAllMocks());

test("a repeated model list is parsed a few times, however many invariants read it", () => {
  expect(parsesWhileJudged(packedLists(() => listOf("vendor")))).toBeLessThanOrEqual(3);
});

test("lists that differ are parsed twice each at most", () => {
  expect(parsesWhileJudged(packedLists((at) => listOf(`vendor ${at}`)))).toBeLessThanOrEqual(2 * LISTS);
});

test("responses with the same large body share its readings, and nothing else", () => {
  const [first, second] = packedLists(() => listOf("vendor"));
  expect(first?.json).toBe(second?.json);
  expect(first?.id).not.toBe(second?.id);
  expect(second?.exchange.timeline.sentUs).toBe(1_000);
  const packer = new ResponsePacker();
  const lists = [listOf("a"), listOf("a"), listOf("b")].map((text) => seen({ sentMs: 0, endMs: 1, text }));
  expect(lists.map((list) => list.pack(packer).isHeld)).toEqual([false, true, false]);
});

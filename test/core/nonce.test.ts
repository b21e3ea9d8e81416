import { expect, test } from "vitest";
import { nonceOf, noncesIn } from "../../src/core/index.ts";

test("a unique text is found anywhere, and a misspelt one is not", () => {
  const [own, other] = [nonceOf("5f3a01", "1az"), nonceOf("5f3a01", "1b0")];
  expect(noncesIn(`Please repeat: ${own} one two\\n"${other}"`)).toEqual([own, other]);
  // Every change of one character: a model that copies badly has not replied to another request.
  const slips = [...own].flatMap((was, at) =>
    [..."0123456789abcdefghijklmnopqrstuvwxyz"]
      .filter((now) => now !== was)
      .map((now) => own.slice(0, at) + now + own.slice(at + 1)),
  );
  const taken = slips.filter((text) => noncesIn(text).length > 0);
  expect(slips.length).toBeGreaterThan(400);
  expect(taken.length / slips.length).toBeLessThan(0.005);
});

test("unique texts of a run differ", () => {
  const all = Array.from({ length: 5_000 }, (_, count) => nonceOf("00ff00", count.toString(36)));
  expect(new Set(all).size).toBe(all.length);
  expect(noncesIn(all.join(" "))).toEqual(all);
});

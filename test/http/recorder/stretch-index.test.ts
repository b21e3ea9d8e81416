import fc from "fast-check";
import { expect, test } from "vitest";
import { StretchIndex } from "../../../src/http/recorder/redaction/stretch-index.ts";

test("finds what a search for each text finds", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "\u0101", "\u4e00", "\u{1f600}"), { maxLength: 60 })
    .map((of) => of.join(""));
  const stretches = fc.array(
    fc.string({ unit: fc.constantFrom("a", "b", "\u0101", "\u4e00"), minLength: 4, maxLength: 7 }),
  );
  fc.assert(
    fc.property(text, stretches, (where, indexed) => {
      const index = new StretchIndex<string>();
      for (const one of indexed) index.add(one, one);
      const found = [...index.ownersIn(where)].sort();
      expect(found).toEqual([...new Set(indexed)].filter((one) => where.includes(one)).sort());
    }),
    { numRuns: 2_000 },
  );
});

test("a text that is too short to be looked up may be anywhere", () => {
  const index = new StretchIndex<number>();
  index.add("ab", 1);
  expect([...index.ownersIn("nothing")]).toEqual([1]);
});

import { describe, expect, test } from "vitest";
import { parseJson, scanJsonObjects } from "../../src/dialects/json-values.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);

describe("what is read as JSON", () => {
  test.each(["", "{", "{}x", "undefined", "NaN", "'a'"])("%j is not", (text) => {
    expect(parseJson(text)).toBeUndefined();
  });

  test("nesting up to 512 levels, in lists and objects (RFC 8259, 9)", () => {
    expect(parseJson(nested(512))).toBeDefined();
    expect(parseJson(nested(513))).toBeUndefined();
    expect(parseJson(`${'{"a":'.repeat(512)}1${"}".repeat(512)}`)).toBeDefined();
    expect(parseJson(`${'{"a":'.repeat(513)}1${"}".repeat(513)}`)).toBeUndefined();
    // Siblings do not count as depth.
    expect(parseJson(`[${Array(600).fill("[]").join()}]`)).toHaveLength(600);
    expect(parseJson(`[${Array(600).fill("{}").join()}]`)).toHaveLength(600);
  });

  test("brackets and quotes inside strings do not count", () => {
    const text = `${"[{".repeat(600)}\\"${"[".repeat(600)}\\\\`;
    expect(parseJson(`["${text}",${"1,".repeat(10)}1]`)).toHaveLength(12);
    expect(parseJson(`["\\\\",${nested(600)}]`)).toBeUndefined();
    expect(parseJson(`["a","b",${nested(600)}]`)).toBeUndefined();
  });

  test("up to 250,000 commas outside of strings", () => {
    expect(parseJson(`[${"1,".repeat(250_000)}1]`)).toHaveLength(250_001);
    expect(parseJson(`[${"1,".repeat(250_001)}1]`)).toBeUndefined();
    expect(parseJson(JSON.stringify([",".repeat(300_000)]))).toHaveLength(1);
  });
});

describe("objects in a body without framing", () => {
  test.each<[body: string, pieces: readonly [value: unknown, start: number, end: number][], strayBytes: number]>([
    ['{"a":1}', [[{ a: 1 }, 0, 7]], 0],
    [
      ' {"a":1}\n{"b":{"c":2}} ',
      [
        [{ a: 1 }, 1, 8],
        [{ b: { c: 2 } }, 9, 22],
      ],
      0,
    ],
    [
      '{"a":1}{"b":2}',
      [
        [{ a: 1 }, 0, 7],
        [{ b: 2 }, 7, 14],
      ],
      0,
    ],
    [
      '[{"a":1},{"b":2}]',
      [
        [{ a: 1 }, 1, 8],
        [{ b: 2 }, 9, 16],
      ],
      0,
    ],
    ['{"a":"}{"}', [[{ a: "}{" }, 0, 10]], 0],
    ['{"a":"\\"}"}', [[{ a: '"}' }, 0, 11]], 0],
    [
      '{"a":"\\\\"}{}',
      [
        [{ a: "\\" }, 0, 10],
        [{}, 10, 12],
      ],
      0,
    ],
    [
      '{"é":1}x{}',
      [
        [{ é: 1 }, 0, 8],
        [{}, 9, 11],
      ],
      1,
    ],
    ["{a}{}", [[{}, 3, 5]], 3],
    ['{"a":', [], 5],
    ['{}"{"', [[{}, 0, 2]], 3],
    ["}}{}", [[{}, 2, 4]], 2],
    ["\t\r\n ,[]", [], 0],
    ["a!", [], 2],
    ["", [], 0],
  ])("%j", (body, pieces, strayBytes) => {
    const found = scanJsonObjects(bytes(body));
    expect(found.pieces.map(({ value, start, end }) => [value, start, end])).toEqual(pieces);
    expect(found.strayBytes).toBe(strayBytes);
  });
});

import fc from "fast-check";

/** Bytes, with those that are special in some format more frequent. */
export const bytes = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          "\r",
          "\n",
          "\r\n",
          "\n\n",
          ":",
          " ",
          "data:",
          "data: ",
          "event: ",
          "{",
          "}",
          "[",
          "]",
          '"',
          ",",
          "\\",
          "\0",
          "\ufeff",
          "[DONE]",
        ),
      },
      { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
      { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.from(parts.join(""), "utf8"));

const rawBytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));

/** Any bytes, including invalid text. */
export const anyBytes = fc.oneof(bytes, rawBytes);

/** Positions at which something is split. */
export const cuts = fc.array(fc.nat(400), { maxLength: 8 });

export function piecesOf(whole: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
}

/** Names that occur in responses, and in JavaScript. */
const names = fc.constantFrom(
  "choices",
  "message",
  "delta",
  "content",
  "text",
  "type",
  "error",
  "usage",
  "data",
  "id",
  "tool_calls",
  "function",
  "arguments",
  "completion_tokens",
  "output_tokens",
  "finish_reason",
  "__proto__",
  "constructor",
  "toString",
);

/** JSON that looks like a response, with arbitrary values. */
export const responseLike: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      "",
      "stop",
      "text",
      "error",
      "[DONE]",
      "data",
      "message_stop",
      "tool_use",
    ),
    fc.string({ maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 5 }).map((entries) => {
      const made: Record<string, unknown> = {};
      for (const [name, value] of entries)
        Object.defineProperty(made, name, { value, enumerable: true, configurable: true });
      return made;
    }),
  ),
})).value;

/** A value with one part replaced by anything, or removed: a file after manual edits. */
export function edited(original: unknown): fc.Arbitrary<unknown> {
  const places = placesOf(original, []);
  return fc
    .tuple(
      fc.constantFrom(...places),
      fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.constantFrom(1e308, -1, "", "\u001b[2J", "../../etc", [])),
    )
    .map(([place, value]) => replacedAt(original, place, value));
}

function placesOf(value: unknown, path: readonly string[]): string[][] {
  if (typeof value !== "object" || value === null || path.length > 6) return [[...path]];
  return [
    [...path],
    ...Object.entries(value)
      .slice(0, 12)
      .flatMap(([name, inner]) => placesOf(inner, [...path, name])),
  ];
}

function replacedAt(original: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (typeof original !== "object" || original === null) return original;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(original) ? [...original] : { ...original };
  const inner = (copy as Record<string, unknown>)[name];
  const made = replacedAt(inner, rest, value);
  if (made === undefined && !Array.isArray(copy)) delete copy[name];
  else (copy as Record<string, unknown>)[name] = made;
  return copy;
}

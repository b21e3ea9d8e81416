import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "../../src/http-recorder/index.ts";

const KEY = "sk-canary-Q7f3kZ0aP9xLm2VbT5cW";
const redactor = new Redactor([{ name: "key.valid", value: KEY }]);

describe("secrets are masked by value", () => {
  test.each([
    ["as it is", KEY],
    ["in lower case", KEY.toLowerCase()],
    ["its first half", KEY.slice(0, 15)],
    ["its last two thirds", KEY.slice(10)],
    ["its middle", KEY.slice(6, 24)],
    ["in base64", Buffer.from(`Bearer ${KEY}`).toString("base64")],
    ["in base64, shifted by one", Buffer.from(`x${KEY}y`).toString("base64")],
    ["in base64url", Buffer.from(`??${KEY}`).toString("base64url")],
    ["URL-encoded with its neighbours", encodeURIComponent(`a/${KEY} b`)],
    ["twice", `${KEY}${KEY}`],
  ])("%s", (_what, text) => {
    const { text: clean, found } = redactor.redact(`before ${text} after`);
    expect(clean).toHaveLength(text.length + 13);
    expect(found.length).toBeGreaterThan(0);
    for (let at = 0; at + 14 <= text.length; at++) expect(clean).not.toContain(text.slice(at, at + 14));
  });

  test("masked forms and common beginnings stay readable", () => {
    for (const text of [`sk-…${KEY.slice(-4)}`, "sk-canary-", KEY.slice(0, 10)])
      expect(redactor.redact(text).text).toBe(text);
  });

  test("a key with characters that URLs and JSON escape", () => {
    const odd = 'k/y+"=\\0123456789abcdef';
    const own = new Redactor([{ name: "key.odd", value: odd }]);
    for (const text of [encodeURIComponent(odd), JSON.stringify(odd)])
      expect(own.redact(text).text).not.toContain("0123456789");
  });

  test.each([18, 19, 38, 39, 40, 41])("both parts of a key of %i characters whose middle one is another", (length) => {
    const key = `gk-${"0123456789abcdef".repeat(3)}`.slice(0, length);
    const middle = Math.floor(length / 2);
    const near = `${key.slice(0, middle)}X${key.slice(middle + 1)}`;
    const { text } = new Redactor([{ name: "key.valid", value: key }]).redact(near);
    expect(text.replaceAll("[key.valid]", "")).toMatch(/^\**X[*]*$/);
  });

  test("any long part in any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat({ max: 15 }), fc.nat({ max: 15 }), (before, after, from, cut) => {
        const part = KEY.slice(from, KEY.length - Math.min(cut, 15 - from));
        const { text } = redactor.redact(before + part + after);
        expect(text.includes(part)).toBe(false);
      }),
    );
  });

  test("values inside objects, and their names", () => {
    const clean = redactor.redactValue({ list: [KEY, { [KEY]: 1 }], number: 1, nothing: null });
    expect(JSON.stringify(clean)).not.toContain(KEY);
    expect(clean.number).toBe(1);
  });
});

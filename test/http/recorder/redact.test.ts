import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "../../../src/http/recorder/index.ts";

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

  const percent = (character: string, upper: boolean) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
    return `%${upper ? hex.toUpperCase() : hex}`;
  };
  const unicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const ESCAPES: Readonly<Record<string, (character: string) => string>> = {
    "percent-encoded in lower case": (character) => percent(character, false),
    "percent-encoded in upper case": (character) => percent(character, true),
    "percent-encoded twice": (character) => percent(character, true).replace("%", "%25"),
    "as JSON escapes": unicode,
    "as JSON escapes in a JSON text in a string": (character) => `\\${unicode(character)}`,
    "as JavaScript escapes": (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
    "as decimal HTML references": (character) => `&#${character.charCodeAt(0)};`,
    "as hexadecimal HTML references": (character) => `&#x${character.charCodeAt(0).toString(16)};`,
  };

  describe.each(Object.entries(ESCAPES))("%s", (_name, escaped) => {
    test.each<[string, RegExp]>([
      ["every character", /./g],
      ["every second one", /(?<=^(?:..)*)./g],
      ["signs", /[^A-Za-z0-9]/g],
      ["digits and capitals", /[A-Z0-9]/g],
    ])("%s", (_what, which) => {
      for (const value of [KEY, Buffer.from(`Bearer ${KEY}`).toString("base64")]) {
        const text = `{"n": "before\\n${value.replace(which, escaped)} after"}`;
        const { text: clean, found } = redactor.redact(text);
        expect(clean).toHaveLength(text.length);
        expect(found.some(({ secret, whole }) => secret === "key.valid" && whole)).toBe(true);
        const kept = clean.slice('{"n": "before\\n'.length, -' after"}'.length).replace(/\[key\.valid\]\**/, "");
        // The first characters of the base64 text are those of "Bearer ".
        expect(kept.length).toBeLessThan(value === KEY ? 1 : kept.length + 1);
        expect(clean.startsWith('{"n": "before\\n')).toBe(true);
        expect(clean.endsWith(' after"}')).toBe(true);
      }
    });
  });

  test("any characters of a key escaped in any way", () => {
    const ways = [...Object.values(ESCAPES), (character: string) => character];
    const choices = fc.array(fc.nat({ max: ways.length - 1 }), { minLength: KEY.length, maxLength: KEY.length });
    fc.assert(
      fc.property(choices, (chosen) => {
        const text = [...KEY].map((character, at) => ways[chosen[at] ?? 0]?.(character)).join("");
        expect(redactor.redact(`x ${text} y`).text).toMatch(/^x \[key\.valid\]\** y$/);
      }),
    );
  });

  test("a key in hexadecimal, and one beyond ASCII in URL encoding", () => {
    const hex = Buffer.from(KEY).toString("hex");
    expect(redactor.redact(hex).text).toMatch(/^\[key\.valid\]\**$/);
    const own = new Redactor([{ name: "key.odd", value: "schlüssel-0123456789-größe" }]);
    expect(own.redact(encodeURIComponent("schlüssel-0123456789-größe").toLowerCase()).text).toMatch(
      /^\[key\.odd\]\**$/,
    );
  });

  test("texts with escapes and no key stay as they are", () => {
    const text = '{"a": "x\\ny %41 &amp; \\u0041 100% &unknown; \\q"}'.repeat(50);
    expect(redactor.redact(text)).toEqual({ text, found: [] });
  });

  test.each([18, 19, 38, 39, 40, 41])("both parts of a key of %i characters whose middle one differs", (length) => {
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

  test("a key that is an ordinary word, where it stands alone", () => {
    const short = new Redactor([{ name: "key.valid", value: "test" }]);
    expect(short.redact("authorization: Bearer test").text).toBe("authorization: Bearer ****");
    expect(short.redact('{"key":"TEST","latest":"testing contest"}').text).toBe(
      '{"key":"****","latest":"testing contest"}',
    );
    expect(short.redactValue({ test: 1, header: "test" })).toEqual({ test: 1, header: "****" });
  });
});

import { expect, test } from "vitest";
import { Recorder } from "../../../src/http/recorder/index.ts";
import { rawServer, response } from "../../support/raw-server.ts";

const KEY = "sk-canary-Q7f3kZ0aP9xLm2VbT5cW";
/** Longer than the prefix of a key, which many keys share. */
const TELLING = 12;

const hex = (code: number) => code.toString(16).padStart(2, "0");
const WAYS: readonly ((code: number) => string)[] = [
  (code) => `%${hex(code)}`,
  (code) => `%${hex(code).toUpperCase()}`,
  (code) => `%25${hex(code)}`,
  (code) => `\\u00${hex(code)}`,
  (code) => `\\\\u00${hex(code)}`,
  (code) => `&#${code};`,
  (code) => `&#x${hex(code)};`,
];

/** The key with every n-th character escaped, in every way. */
const escapedForms = [1, 2, 3, 7].flatMap((n) =>
  WAYS.map((way) => [...KEY].map((c, at) => (at % n === 0 ? way(c.charCodeAt(0)) : c)).join("")),
);

/** The text after all escapes are undone, repeatedly if nested. */
function readBy(text: string): string {
  const once = text
    .replace(/\\\\/g, "\\")
    .replace(/\\u00([\da-f]{2})|%([\da-f]{2})|&#x([\da-f]{2});/gi, (_, ...[a, b, c]: string[]) =>
      String.fromCharCode(Number.parseInt(a ?? b ?? c ?? "", 16)),
    )
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  return once === text ? text : readBy(once);
}

test("no escaped form of a key reaches the record of an exchange, in headers and body", async () => {
  const headers = escapedForms.map((form, n) => `x-form-${n}: ${form}\r\n`).join("");
  const body = `{"error":{"message":"${escapedForms.join(" ")}"}}`;
  await using server = await rawServer((socket) => void socket.write(response(body, { headers })));
  await using recorder = new Recorder({ secrets: [{ name: "key.valid", value: KEY }] });
  const exchange = await recorder.send({ method: "GET", url: `${server.origin}/v1/models`, headers: [] });
  const kept = readBy(JSON.stringify(exchange));
  for (let at = 0; at + TELLING <= KEY.length; at++) expect(kept).not.toContain(KEY.slice(at, at + TELLING));
  expect(exchange.response?.body.text).toHaveLength(body.length);
  const wholeOnes = exchange.redactions.filter(({ whole }) => whole);
  expect(wholeOnes.length).toBe(escapedForms.length * 2);
  expect([...new Set(wholeOnes.map(({ form }) => form))].sort()).toEqual(["html", "json", "url"]);
});

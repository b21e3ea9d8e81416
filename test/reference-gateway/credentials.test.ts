import { expect, test } from "vitest";
import { startFixture } from "./support/gateway-fixture.ts";

const OK = "200 undefined";
const NO = "401 invalid_api_key";

test.each<[string, (key: string) => Record<string, string>, string, string]>([
  ["a bearer", (key) => ({ Authorization: `Bearer ${key}` }), OK, OK],
  ["the scheme in lower case", (key) => ({ Authorization: `bearer ${key}` }), OK, OK],
  ["two spaces", (key) => ({ Authorization: `Bearer  ${key}` }), OK, OK],
  ["nothing", () => ({}), NO, NO],
  ["an empty value", () => ({ Authorization: "" }), NO, NO],
  ["the scheme alone", () => ({ Authorization: "Bearer" }), NO, NO],
  ["an empty token", () => ({ Authorization: "Bearer " }), NO, NO],
  ["another scheme", (key) => ({ Authorization: `Basic ${key}` }), NO, NO],
  ["no scheme", (key) => ({ Authorization: key }), NO, NO],
  ["another word behind the token", (key) => ({ Authorization: `Bearer ${key} more` }), NO, NO],
  ["two tokens", (key) => ({ Authorization: `Bearer ${key}, Bearer ${key}` }), NO, NO],
  ["bytes beyond ASCII", (key) => ({ Authorization: `Bearer ${key}\u00e9` }), NO, NO],
  ["a very long token", () => ({ Authorization: `Bearer ${"x".repeat(60_000)}` }), NO, NO],
  ["the key in another letter case", (key) => ({ Authorization: `Bearer ${swapCase(key)}` }), NO, NO],
  ["the beginning of the key", (key) => ({ Authorization: `Bearer ${key.slice(0, -1)}` }), NO, NO],
  ["more than the key", (key) => ({ Authorization: `Bearer ${key}0` }), NO, NO],
  ["the vendor's header", (key) => ({ "x-api-key": key }), NO, OK],
  ["a wrong vendor's header", () => ({ "x-api-key": "gk-never-issued" }), NO, NO],
  [
    "a wrong bearer with a valid vendor header",
    (key) => ({ Authorization: "Bearer gk-wrong", "x-api-key": key }),
    NO,
    NO,
  ],
  [
    "a valid bearer with a wrong vendor header",
    (key) => ({ Authorization: `Bearer ${key}`, "x-api-key": "wrong" }),
    OK,
    OK,
  ],
])("a key as %s", async (_name, headers, chat, messages) => {
  await using fixture = await startFixture();
  const sent = headers(fixture.ready.keys.valid);
  const row = ({ status, headers: own }: { status: number; headers: Readonly<Record<string, string>> }) =>
    `${status} ${own["x-service-error-code"]}`;
  expect(row(await fixture.chat({}, { key: "", headers: sent }))).toBe(chat);
  expect(row(await fixture.messages({}, { key: "", headers: sent }))).toBe(messages);
  expect(row(await fixture.send({ path: "/models", key: "", headers: sent }))).toBe(chat);
});

test("a key in the address, a cookie or the body is ignored", async () => {
  await using fixture = await startFixture();
  const key = fixture.ready.keys.valid;
  for (const name of ["key", "api_key", "api-key", "token", "access_token"]) {
    expect((await fixture.send({ path: `/models?${name}=${key}`, key: "" })).status).toBe(401);
    expect((await fixture.send({ path: "/models", key: "", headers: { Cookie: `${name}=${key}` } })).status).toBe(401);
    expect((await fixture.chat({ [name]: key }, { key: "" })).status).toBe(401);
  }
});

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
}

test.each<[mutation: string, secret: string, streaming: boolean]>([
  ["auth.messages-with-any-key", "Bearer gk-never-issued", false],
  ["auth.messages-with-any-key", "Bearer gk-never-issued", true],
  ["auth.stream-without-key", "", true],
  ["auth.empty-bearer-served", "Bearer ", false],
])("%s serves a request without an account", async (mutation, secret, stream) => {
  await using fixture = await startFixture({ mutations: [mutation] });
  const headers = secret === "" ? {} : { Authorization: secret };
  expect((await fixture.messages({ stream }, { key: "", headers })).status).toBe(200);
});

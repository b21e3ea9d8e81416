import { describe, expect, test } from "vitest";
import { noise } from "../../suites/shared/requests/images.ts";
import type { Reply } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

const json = ({ bytes }: Reply) => JSON.parse(bytes.toString("utf8"));

const PNG = noise(8);
const BYTES = Buffer.byteLength(PNG, "base64");
const inline = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const block = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
const requested = (model: string, ...parts: readonly object[]) => ({
  model,
  messages: [{ role: "user", content: [{ type: "text", text: "What?" }, ...parts] }],
});

describe("images", () => {
  test("are taken by the model that takes them, inline and by address, in both dialects", async () => {
    await using fixture = await startFixture();
    const away = { type: "image_url", image_url: { url: "https://images.example.test/a.png" } };
    const chat = await fixture.chat(requested("image-reader", inline, away));
    expect(json(chat)).toMatchObject({
      choices: [{ message: { content: `image 1: image/png, ${BYTES} bytes\nimage 2: by its address\nWhat?` } }],
    });
    const messages = await fixture.messages(requested("image-reader", block));
    expect(json(messages)).toMatchObject({ content: [{ text: `image 1: image/png, ${BYTES} bytes\nWhat?` }] });
    expect(Number(json(chat).usage.prompt_tokens)).toBeGreaterThan(170);
  });

  test.each([
    ["another model", requested("echo-fast", inline)],
    ["no base64", requested("image-reader", { type: "image_url", image_url: { url: "data:image/png;base64,?" } })],
    ["no image", requested("image-reader", { type: "image_url", image_url: { url: "data:text/html;base64,AAAA" } })],
    ["no address", requested("image-reader", { type: "image_url", image_url: { url: "file:///etc/passwd" } })],
    ["nothing", requested("image-reader", { type: "image_url" })],
  ])("%s: 400", async (_what, body) => {
    await using fixture = await startFixture();
    expect((await fixture.chat(body)).status).toBe(400);
  });

  test.each([
    ["another model", requested("echo-fast", block)],
    ["no source", requested("image-reader", { type: "image" })],
    ["no media type", requested("image-reader", { type: "image", source: { type: "base64", data: PNG } })],
    ["no address", requested("image-reader", { type: "image", source: { type: "url", url: "ftp://a" } })],
  ])("messages, %s: 400", async (_what, body) => {
    await using fixture = await startFixture();
    expect((await fixture.messages(body)).status).toBe(400);
  });
});

describe("structured outputs", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      many: { type: "array", items: { type: "integer" } },
      inner: { type: "object", properties: { on: { type: "boolean" } } },
    },
  };
  const value = { name: "hello", many: [7], inner: { on: true } };
  const turns = [{ role: "user", content: "hello" }];

  test("are JSON of the schema in both dialects, streaming and non-streaming", async () => {
    await using fixture = await startFixture();
    const format = { type: "json_schema", json_schema: { name: "x", schema } };
    const chat = await fixture.chat({ model: "json-writer", messages: turns, response_format: format });
    const { choices } = json(chat);
    expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual(value);
    for (const form of [
      { output_config: { format: { type: "json_schema", schema } } },
      { output_format: { type: "json_schema", schema } },
    ]) {
      const reply = await fixture.messages({ model: "json-writer", messages: turns, ...form });
      const { content } = json(reply);
      expect(JSON.parse(content[0]?.text ?? "")).toEqual(value);
    }
  });

  test("without a schema the model repeats the prompt", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.chat({ model: "json-writer", messages: turns });
    expect(json(reply)).toMatchObject({ choices: [{ message: { content: "hello" } }] });
  });
});

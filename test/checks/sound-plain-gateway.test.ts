import { expect, test } from "vitest";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly messages?: readonly { readonly content?: unknown }[];
}

/** Maximum reply of an echo model. */
const MAX_SAID = 8_000;

/**
 * A gateway with one model, whose reply comes in one event and is never longer than 8,000 characters; whose list has further
 * pages; and that fails the first request with two keys.
 */
function plainGateway() {
  let hasFailed = false;
  return httpServer((request, text, response) => {
    const json = (status: number, body: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (request.method === "GET")
      return json(200, { object: "list", data: [{ id: "plain", object: "model" }], next_cursor: "p2" });
    if (request.headers["x-api-key"] !== undefined && !hasFailed) {
      hasFailed = true;
      return json(503, { error: { message: "overloaded" } }, { "x-service-error-code": "provider_overloaded" });
    }
    const body = JSON.parse(text) as Body;
    if (body.model?.toLowerCase() === "nobody")
      return json(404, { error: { message: "no such model" } }, { "x-service-error-code": "model_not_found" });
    const said = String(body.messages?.at(-1)?.content ?? "").slice(0, MAX_SAID);
    const tokens = (characters: number) => Math.ceil(characters / 4);
    const usage = { prompt_tokens: tokens(text.length), completion_tokens: tokens(said.length) };
    if (request.url?.endsWith("/messages") === true)
      return json(200, {
        ...{
          id: "m",
          type: "message",
          role: "assistant",
          model: "plain",
          stop_reason: "end_turn",
          stop_sequence: null,
        },
        content: [{ type: "text", text: said }],
        usage: { input_tokens: tokens(text.length), output_tokens: tokens(said.length) },
      });
    if (body.stream !== true)
      return json(200, {
        ...{ id: "c", object: "chat.completion", created: 1, model: "plain", usage },
        choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
      });
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "plain", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(`${chunk({ role: "assistant", content: said }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
}

test("a model that shortens, a paged list and one failed request cause no findings", async () => {
  await using server = await plainGateway();
  const target = targetOf(server.baseUrl);
  const models = { ...target.models, chat: { ...target.models.chat, echo: "plain" } };
  const results = await conformTo(
    { ...target, models },
    {
      only: [
        "streaming.long-events[chat]",
        "errors.derived-model[chat]",
        "auth.both-keys[non-streaming,same-key]",
        "robustness.reply-cache[chat,history]",
      ],
    },
  );
  const blamed = results.filter(({ status }) => status === "fail" || status === "warn" || status === "harness-error");
  expect(blamed.map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
  const status = (id: string) => results.find((result) => result.id.startsWith(id))?.status;
  expect([status("streaming.long-events"), status("errors.derived-model"), status("auth.both-keys")]).toEqual([
    "blocked",
    "not-applicable",
    "pass",
  ]);
});

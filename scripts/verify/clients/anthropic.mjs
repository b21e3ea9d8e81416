// The same with the anthropic SDK; see openai.mjs.
import Anthropic from "@anthropic-ai/sdk";

const { env } = process;
const model = env.GAUNTLET_MODEL;
const say = (what, got) => process.stdout.write(`${JSON.stringify({ what, got })}\n`);

async function conduct() {
  const client = new Anthropic({ timeout: Number(env.GAUNTLET_TIMEOUT_S) * 1_000 });
  const call = async (index) => {
    const body = { model, max_tokens: 256, messages: [{ role: "user", content: `Question ${index}` }] };
    if (env.GAUNTLET_STREAM !== "1") return client.messages.create(body);
    const stream = await client.messages.create({ ...body, stream: true });
    for await (const { delta } of stream) process.stdout.write(delta?.text ?? "");
  };
  const ended = await Promise.allSettled(Array.from({ length: Number(env.GAUNTLET_CALLS) }, (_, index) => call(index)));
  const failed = ended.filter(({ status }) => status === "rejected");
  for (const { reason } of failed) process.stderr.write(`${reason.constructor.name}: ${reason.message}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function complete() {
  const keys = JSON.parse(env.KEYS);
  const withKey = (authToken) => new Anthropic({ authToken, apiKey: null, maxRetries: 0 });
  const client = withKey(keys.valid);
  const ask = (content, more = {}) => ({
    model: "echo-fast",
    max_tokens: 256,
    messages: [{ role: "user", content }],
    ...more,
  });
  const whole = await client.messages.create(ask("Grüße, 東京 🚀"));
  say("whole", [whole.content[0].text, whole.stop_reason, whole.usage.output_tokens > 0]);
  say("request id", typeof whole._request_id);
  const system = await client.messages.create(ask("Hello", { model: "transcript", system: "Be brief." }));
  say("system", system.content[0].text);
  const stream = await client.messages.create(ask("go", { model: "echo-stream", stream: true }));
  const [parts, seen] = [[], { stop: null, usage: false }];
  for await (const event of stream) {
    if (event.type === "content_block_delta") parts.push(event.delta.text);
    if (event.type === "message_delta") {
      seen.stop = event.delta.stop_reason;
      seen.usage = event.usage.output_tokens > 0;
    }
  }
  say("stream", [parts.join("").split(" ").length, parts.length > 10, seen.stop, seen.usage]);
  const helper = await client.messages.stream(ask("again")).finalMessage();
  say("stream helper", [helper.content[0].text, helper.stop_reason]);
  const tools = [
    {
      name: "get_weather",
      description: "The weather of a city",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  ];
  const called = await client.messages.create(ask("Paris", { model: "tool-caller", tools }));
  const tool = called.content.find(({ type }) => type === "tool_use");
  say("tool", [tool.name, tool.input, called.stop_reason]);
  const toolStream = await client.messages.stream(ask("Oslo", { model: "tool-caller", tools })).finalMessage();
  const streamed = toolStream.content.find(({ type }) => type === "tool_use");
  say("tool stream", [streamed.name, streamed.input]);
  const errors = [
    ["invalid key", "gk-never-issued", "echo-fast"],
    ["revoked key", keys.revoked, "echo-fast"],
    ["no credits", keys.empty, "echo-fast"],
    ["spend cap", keys.capped, "echo-fast"],
    ["budget", keys.childExhausted, "echo-fast"],
    ["unknown model", keys.valid, "no-such-model"],
    ["provider fails", keys.valid, "fail-500"],
    ["provider silent", keys.valid, "fail-timeout"],
  ];
  for (const [what, key, model] of errors) {
    for (const inStream of [false, true]) {
      const name = inStream ? `${what}, stream` : what;
      try {
        await withKey(key).messages.create(ask("x", { model, stream: inStream }));
        say(name, "no error");
      } catch (error) {
        const kind = error instanceof Anthropic.APIError ? error.constructor.name : `not an APIError: ${error}`;
        say(name, [kind, error.status, error.headers?.get("x-service-error-code"), typeof error.requestID]);
      }
    }
  }
  try {
    const cut = await client.messages.create(ask("go", { model: "drop-midstream", stream: true }));
    for await (const _ of cut);
    say("provider interrupts", "no error");
  } catch (error) {
    say("provider interrupts", [error instanceof Anthropic.APIError]);
  }
}

await (process.argv[2] === "complete" ? complete() : conduct());

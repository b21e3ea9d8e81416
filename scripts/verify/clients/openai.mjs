// A program that uses the openai SDK as documented, with all defaults. `complete`: calls, tools and errors against a reference
// gateway, one line of JSON per fact. Otherwise: what a scenario of `gauntlet client` requests.
import OpenAI from "openai";

const { env } = process;
const model = env.GAUNTLET_MODEL;
const say = (what, got) => process.stdout.write(`${JSON.stringify({ what, got })}\n`);

async function conduct() {
  const client = new OpenAI({ timeout: Number(env.GAUNTLET_TIMEOUT_S) * 1_000 });
  const call = async (index) => {
    const body = { model, messages: [{ role: "user", content: `Question ${index}` }] };
    if (env.GAUNTLET_STREAM !== "1") return client.chat.completions.create(body);
    const stream = await client.chat.completions.create({ ...body, stream: true });
    for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "");
  };
  const ended = await Promise.allSettled(Array.from({ length: Number(env.GAUNTLET_CALLS) }, (_, index) => call(index)));
  const failed = ended.filter(({ status }) => status === "rejected");
  for (const { reason } of failed) process.stderr.write(`${reason.constructor.name}: ${reason.message}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function complete() {
  const keys = JSON.parse(env.KEYS);
  const withKey = (apiKey) => new OpenAI({ apiKey, maxRetries: 0 });
  const client = withKey(keys.valid);
  const ask = (content, more = {}) => ({ model: "echo-fast", messages: [{ role: "user", content }], ...more });
  const models = [];
  for await (const { id } of client.models.list()) models.push(id);
  say("models", models.includes("echo-fast"));
  const whole = await client.chat.completions.create(ask("Grüße, 東京 🚀"));
  say("whole", [whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.total_tokens > 0]);
  say("request id", typeof whole._request_id);
  const stream = await client.chat.completions.create(
    ask("go", { model: "echo-stream", stream: true, stream_options: { include_usage: true } }),
  );
  const [parts, seen] = [[], { finish: null, usage: false }];
  for await (const { choices, usage } of stream) {
    if (choices[0]?.delta.content) parts.push(choices[0].delta.content);
    seen.finish = choices[0]?.finish_reason ?? seen.finish;
    seen.usage ||= (usage?.completion_tokens ?? 0) > 0;
  }
  say("stream", [parts.join("").split(" ").length, parts.length > 10, seen.finish, seen.usage]);
  const tools = [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather of a city",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    },
  ];
  const called = await client.chat.completions.create(ask("Paris", { model: "tool-caller", tools }));
  const [tool] = called.choices[0].message.tool_calls;
  say("tool", [tool.function.name, JSON.parse(tool.function.arguments), called.choices[0].finish_reason]);
  const toolStream = await client.chat.completions.create(ask("Oslo", { model: "tool-caller", tools, stream: true }));
  let [name, json] = ["", ""];
  for await (const { choices } of toolStream) {
    name += choices[0]?.delta.tool_calls?.[0]?.function.name ?? "";
    json += choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? "";
  }
  say("tool stream", [name, JSON.parse(json)]);
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
    for (const streamed of [false, true]) {
      const name = streamed ? `${what}, stream` : what;
      try {
        await withKey(key).chat.completions.create(ask("x", { model, stream: streamed }));
        say(name, "no error");
      } catch (error) {
        const kind = error instanceof OpenAI.APIError ? error.constructor.name : `not an APIError: ${error}`;
        say(name, [kind, error.status, error.headers?.get("x-service-error-code"), typeof error.requestID]);
      }
    }
  }
  try {
    const cut = await client.chat.completions.create(ask("go", { model: "drop-midstream", stream: true }));
    for await (const _ of cut);
    say("provider interrupts", "no error");
  } catch (error) {
    say("provider interrupts", [error instanceof OpenAI.APIError]);
  }
}

await (process.argv[2] === "complete" ? complete() : conduct());

"""The same with the anthropic SDK for Python; see openai.mjs."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import anthropic

env = os.environ


def say(what, got):
    print(json.dumps({"what": what, "got": got}, ensure_ascii=False), flush=True)


def conduct():
    client = anthropic.Anthropic(timeout=float(env["GAUNTLET_TIMEOUT_S"]))

    def call(index):
        message = {"role": "user", "content": f"Question {index}"}
        body = {"model": env["GAUNTLET_MODEL"], "max_tokens": 256, "messages": [message]}
        if env["GAUNTLET_STREAM"] != "1":
            client.messages.create(**body)
            return
        for event in client.messages.create(**body, stream=True):
            if event.type == "content_block_delta":
                sys.stdout.write(event.delta.text)
                sys.stdout.flush()

    calls = int(env["GAUNTLET_CALLS"])
    failed = 0
    with ThreadPoolExecutor(calls) as pool:
        for future in [pool.submit(call, index) for index in range(calls)]:
            error = future.exception()
            if error is not None:
                failed += 1
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1 if failed else 0)


def complete():
    keys = json.loads(env["KEYS"])
    # If it stayed in the environment, it would be sent along with the token.
    env.pop("ANTHROPIC_API_KEY", None)

    def with_key(key):
        return anthropic.Anthropic(auth_token=key, max_retries=0)

    def ask(content, **more):
        return {"model": "echo-fast", "max_tokens": 256, "messages": [{"role": "user", "content": content}], **more}

    client = with_key(keys["valid"])
    whole = client.messages.create(**ask("Grüße, 東京 🚀"))
    say("whole", [whole.content[0].text, whole.stop_reason, whole.usage.output_tokens > 0])
    say("request id", "string" if isinstance(whole._request_id, str) else "none")
    system = client.messages.create(**ask("Hello", model="transcript", system="Be brief."))
    say("system", system.content[0].text)
    parts, stop, usage = [], None, False
    for event in client.messages.create(**ask("go", model="echo-stream", stream=True)):
        if event.type == "content_block_delta":
            parts.append(event.delta.text)
        if event.type == "message_delta":
            stop, usage = event.delta.stop_reason, event.usage.output_tokens > 0
    say("stream", [len("".join(parts).split(" ")), len(parts) > 10, stop, usage])
    with client.messages.stream(**ask("again")) as stream:
        helper = stream.get_final_message()
    say("stream helper", [helper.content[0].text, helper.stop_reason])
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "get_weather", "description": "The weather of a city", "input_schema": schema}]
    called = client.messages.create(**ask("Paris", model="tool-caller", tools=tools))
    tool = next(block for block in called.content if block.type == "tool_use")
    say("tool", [tool.name, tool.input, called.stop_reason])
    with client.messages.stream(**ask("Oslo", model="tool-caller", tools=tools)) as stream:
        streamed = next(block for block in stream.get_final_message().content if block.type == "tool_use")
    say("tool stream", [streamed.name, streamed.input])
    errors = [
        ["invalid key", "gk-never-issued", "echo-fast"],
        ["revoked key", keys["revoked"], "echo-fast"],
        ["no credits", keys["empty"], "echo-fast"],
        ["spend cap", keys["capped"], "echo-fast"],
        ["budget", keys["childExhausted"], "echo-fast"],
        ["unknown model", keys["valid"], "no-such-model"],
        ["provider fails", keys["valid"], "fail-500"],
        ["provider silent", keys["valid"], "fail-timeout"],
    ]
    for what, key, model in errors:
        for in_stream in (False, True):
            label = f"{what}, stream" if in_stream else what
            try:
                with_key(key).messages.create(**ask("x", model=model, stream=in_stream))
                say(label, "no error")
            except anthropic.APIStatusError as error:
                reason = error.response.headers.get("x-service-error-code")
                identifier = "string" if isinstance(error.request_id, str) else "none"
                say(label, [type(error).__name__, error.status_code, reason, identifier])
    try:
        for _ in client.messages.create(**ask("go", model="drop-midstream", stream=True)):
            pass
        say("provider interrupts", "no error")
    except Exception as error:
        say("provider interrupts", [isinstance(error, anthropic.APIError)])


complete() if sys.argv[1:] == ["complete"] else conduct()

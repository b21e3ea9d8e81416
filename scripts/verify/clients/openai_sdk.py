"""The same with the openai SDK for Python; see openai.mjs."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import openai

env = os.environ


def say(what, got):
    print(json.dumps({"what": what, "got": got}, ensure_ascii=False), flush=True)


def conduct():
    client = openai.OpenAI(timeout=float(env["GAUNTLET_TIMEOUT_S"]))

    def call(index):
        body = {"model": env["GAUNTLET_MODEL"], "messages": [{"role": "user", "content": f"Question {index}"}]}
        if env["GAUNTLET_STREAM"] != "1":
            client.chat.completions.create(**body)
            return
        for chunk in client.chat.completions.create(**body, stream=True):
            sys.stdout.write((chunk.choices[0].delta.content or "") if chunk.choices else "")
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

    def with_key(key):
        return openai.OpenAI(api_key=key, max_retries=0)

    def ask(content, **more):
        return {"model": "echo-fast", "messages": [{"role": "user", "content": content}], **more}

    client = with_key(keys["valid"])
    say("models", "echo-fast" in [model.id for model in client.models.list()])
    whole = client.chat.completions.create(**ask("Grüße, 東京 🚀"))
    choice = whole.choices[0]
    say("whole", [choice.message.content, choice.finish_reason, whole.usage.total_tokens > 0])
    say("request id", "string" if isinstance(whole._request_id, str) else "none")
    stream = client.chat.completions.create(
        **ask("go", model="echo-stream", stream=True, stream_options={"include_usage": True})
    )
    parts, finish, usage = [], None, False
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            parts.append(chunk.choices[0].delta.content)
        if chunk.choices and chunk.choices[0].finish_reason:
            finish = chunk.choices[0].finish_reason
        usage = usage or bool(chunk.usage and chunk.usage.completion_tokens > 0)
    say("stream", [len("".join(parts).split(" ")), len(parts) > 10, finish, usage])
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "The weather of a city", "parameters": parameters}
    tools = [{"type": "function", "function": function}]
    called = client.chat.completions.create(**ask("Paris", model="tool-caller", tools=tools)).choices[0]
    tool = called.message.tool_calls[0].function
    say("tool", [tool.name, json.loads(tool.arguments), called.finish_reason])
    name, text = "", ""
    for chunk in client.chat.completions.create(**ask("Oslo", model="tool-caller", tools=tools, stream=True)):
        for part in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            name += part.function.name or ""
            text += part.function.arguments or ""
    say("tool stream", [name, json.loads(text)])
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
        for streamed in (False, True):
            label = f"{what}, stream" if streamed else what
            try:
                with_key(key).chat.completions.create(**ask("x", model=model, stream=streamed))
                say(label, "no error")
            except openai.APIStatusError as error:
                reason = error.response.headers.get("x-service-error-code")
                identifier = "string" if isinstance(error.request_id, str) else "none"
                say(label, [type(error).__name__, error.status_code, reason, identifier])
    try:
        for _ in client.chat.completions.create(**ask("go", model="drop-midstream", stream=True)):
            pass
        say("provider interrupts", "no error")
    except Exception as error:
        say("provider interrupts", [isinstance(error, openai.APIError)])


complete() if sys.argv[1:] == ["complete"] else conduct()

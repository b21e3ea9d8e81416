"""The same with the SDKs for Python; see openai_and_anthropic.mjs."""

import os

import anthropic
import openai

origin, key = os.environ["ORIGIN"], os.environ["KEY"]
chat = openai.OpenAI(api_key=key, base_url=f"{origin}/openai-python/v1", max_retries=0)
msgs = anthropic.Anthropic(auth_token=key, base_url=f"{origin}/anthropic-python", max_retries=0)
turns = [{"role": "user", "content": "Hello"}]


def stream_message():
    with msgs.messages.stream(model="m", max_tokens=16, messages=turns) as stream:
        stream.get_final_message()


for send in (
    lambda: chat.chat.completions.create(model="m", messages=turns),
    lambda: chat.chat.completions.create(model="m", messages=turns, stream=True),
    chat.models.list,
    lambda: msgs.messages.create(model="m", max_tokens=16, messages=turns),
    stream_message,
    msgs.models.list,
):
    try:
        send()
    except (openai.APIStatusError, anthropic.APIStatusError):
        pass  # Every request is refused: only what was sent counts.

import { isDeepStrictEqual } from "node:util";
import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import type { JsonObject } from "../../src/core/index.ts";
import { DIALECTS, MODES, toolsOf } from "../../src/dialects/index.ts";
import { isTrue, type Verdict } from "../../src/judging/index.ts";
import { tokenCountsOf } from "../shared/judge/token-counts.ts";
import { MULTIBYTE_TEXT, SPECIAL_TEXT } from "../shared/requests/texts.ts";
import { ONE_TOOL } from "../shared/requests/tools.ts";
import { assumeReachedProviders, type ProviderScript, sendMarked, sendPlain } from "./marked.ts";
import { calledTools } from "./tools/called.ts";

const TEXT = `${MULTIBYTE_TEXT}\n${SPECIAL_TEXT}\n  indented\tend  .`;
const TOOL = {
  name: "get_weather",
  arguments: { city: 'Tromsø "N"', days: [1, 2.5], deep: { units: null, on: true } },
};

const REPLIES: Readonly<Record<string, ProviderScript[string]>> = {
  text: { text: TEXT, pieces: 40 },
  tool: { tool: TOOL, pieces: 9 },
};

const reply = defineCheck({
  id: "upstream.reply",
  title: "The caller gets the provider's reply, complete and unchanged",
  covers: ["UPSTREAM-REPLY"],
  explains:
    "The provider replies with a text of awkward characters, and with a tool call with nested arguments. The caller must get the same text, character for character, and the same tool with the same arguments, streaming and non-streaming.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES, case: Object.keys(REPLIES) },
  cost: { requests: 3 },
  async run(t) {
    const plain = await sendPlain(t);
    const fields: JsonObject = t.case === "tool" ? { tools: toolsOf(t.dialect, ONE_TOOL) as JsonObject[] } : {};
    const request = { mode: t.mode, fields, intent: "any" } as const;
    return { plain, passed: await sendMarked(t, request, { "*": REPLIES[t.case] as ProviderScript[string] }) };
  },
  judge({ plain, passed }, verdict, axes) {
    assumeReachedProviders(verdict, plain);
    const { response } = passed;
    verdict.requireControl(response, "a request for this reply");
    if (axes.case === "tool") return judgeTool(response, verdict);
    const text = response.replyText ?? "";
    verdict.must("UPSTREAM-REPLY", text === TEXT, isTrue("the provider's text", difference(text)), { in: response });
  },
});

/** Describes where a text deviates from the provider's. */
function difference(text: string): string {
  if (text === TEXT) return "the provider's text";
  const at = [...text].findIndex((character, index) => character !== [...TEXT][index]);
  const from = at < 0 ? [...text].length : at;
  return `another text from character ${from} on: ${JSON.stringify([...text].slice(from, from + 30).join(""))}`;
}

function judgeTool(response: Response, verdict: Verdict): void {
  const [called] = calledTools(response);
  const seen = { in: response };
  verdict.must("UPSTREAM-REPLY", called?.name, TOOL.name, { ...seen, because: "name of the tool" });
  const isSame = isDeepStrictEqual(called?.input, TOOL.arguments);
  const shown = JSON.stringify(called?.input) ?? "nothing";
  verdict.must("UPSTREAM-REPLY", isSame, isTrue(`the arguments ${JSON.stringify(TOOL.arguments)}`, shown), seen);
}

/** What the provider counts: most of the input was read from its cache. */
const COUNTED = { input: 2_000, cached: 1_900, output: 37 };

/** The same in the fields of the dialects: the messages dialect counts cached tokens separately. */
const EXPECTED = {
  chat: {
    prompt_tokens: COUNTED.input,
    completion_tokens: COUNTED.output,
    "prompt_tokens_details.cached_tokens": COUNTED.cached,
  },
  messages: {
    input_tokens: COUNTED.input - COUNTED.cached,
    output_tokens: COUNTED.output,
    cache_read_input_tokens: COUNTED.cached,
  },
} as const;

const usage = defineCheck({
  id: "upstream.usage",
  title: "The token counts are the provider's, including cached tokens",
  covers: ["UPSTREAM-USAGE"],
  explains:
    "The provider counts 2,000 input tokens, 1,900 of them from its cache, and 37 output tokens. The caller should get the same counts, in the dialect's fields: whoever pays less for cached tokens has to see them. Streams of the chat dialect request their usage (stream_options.include_usage).",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 3 },
  async run(t) {
    const plain = await sendPlain(t);
    const requestsUsage = t.dialect === "chat" && t.mode === "streaming";
    const fields: JsonObject = requestsUsage ? { stream_options: { include_usage: true } } : {};
    const request = { mode: t.mode, fields, intent: "any" } as const;
    return { plain, passed: await sendMarked(t, request, { "*": { usage: COUNTED } }) };
  },
  judge({ plain, passed }, verdict, axes) {
    assumeReachedProviders(verdict, plain);
    const { response } = passed;
    verdict.requireControl(response, "a request for this reply");
    const usage = tokenCountsOf(response);
    for (const [name, count] of Object.entries(EXPECTED[axes.dialect ?? "chat"]))
      verdict.should("UPSTREAM-USAGE", usage[name], count, { in: response, at: `/usage/${name.replaceAll(".", "/")}` });
  },
});

export const REPLY: readonly Check[] = [reply, usage];

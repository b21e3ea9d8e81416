import { isObject, type JsonObject, type JsonValue, member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { onProviderBody, onRelayedReply, onRelayedText, withoutFields } from "../../edits/provider-edits.ts";
import {
  mapValues,
  onFormat,
  onProviderTools,
  onRelayedCalls,
  onToolHistory,
  onToolList,
  withArguments,
  withEarlierArguments,
  withSchema,
} from "../../edits/tool-edits.ts";
import { all } from "../../edits/wrap.ts";

const REPLY = ["UPSTREAM-REPLY"];
const CONVERSATION = ["UPSTREAM-CONVERSATION"];
const PARAMETERS = ["UPSTREAM-PARAMETERS"];

/** Changes the arguments of every call: each value inside them. */
const everyValue = (edit: (value: JsonValue) => JsonValue | undefined) =>
  withArguments((input) => mapValues(input, edit));

const withoutNulls = (value: JsonValue) => (value === null ? undefined : value);
const numbers = (edit: (value: number) => JsonValue) => (value: JsonValue) =>
  typeof value === "number" ? edit(value) : value;

/** Removes keywords from a schema, at any depth. */
const withoutKeywords = (...keywords: readonly string[]) => {
  const without = (value: JsonValue): JsonValue =>
    isObject(value)
      ? (Object.fromEntries(Object.entries(value).filter(([name]) => !keywords.includes(name))) as JsonObject)
      : value;
  return (schema: JsonValue): JsonValue => without(mapValues(schema, without));
};

const withoutStrict = ({ strict: _, ...rest }: JsonObject): JsonObject => rest;

const wantsFormat = (parsed: unknown) =>
  member(parsed, "response_format") !== undefined || member(parsed, "output_config") !== undefined;

/** What happens to tools, tool calls and structured outputs between callers and providers. */
export const RELAYED_TOOL_MUTATIONS: readonly Mutation[] = [
  ...grid(REPLY, onRelayedCalls, {
    "provider.tool-renamed": {
      summary: "The caller gets called tools with a prefix before their names.",
      with: (calls) => calls.map((call) => ({ ...call, name: `functions.${call.name}` })),
      detectedBy: { "upstream.tool-calls[chat,streaming,no-arguments]": "UPSTREAM-REPLY" },
    },
    "provider.tool-numbers-as-text": {
      summary: "Numbers in the arguments of a tool call arrive as strings.",
      with: (calls) => calls.map(everyValue(numbers(String))),
      detectedBy: { "upstream.tool-calls[messages,streaming,types]": "UPSTREAM-REPLY" },
    },
    "provider.tool-integers-of-32-bits": {
      summary: "Integers in the arguments of a tool call are limited to 32 bits.",
      with: (calls) => calls.map(everyValue(numbers((value) => (Number.isInteger(value) ? value | 0 : value)))),
      detectedBy: { "upstream.tool-calls[chat,non-streaming,types]": "UPSTREAM-REPLY" },
    },
    "provider.tool-floats-rounded": {
      summary: "Numbers in the arguments of a tool call are rounded to 15 digits.",
      with: (calls) => calls.map(everyValue(numbers((value) => Number(value.toPrecision(15))))),
      detectedBy: { "upstream.tool-calls[messages,non-streaming,types]": "UPSTREAM-REPLY" },
    },
    "provider.tool-text-escaped-twice": {
      summary: "Characters in the arguments of a tool call are escaped twice.",
      with: (calls) =>
        calls.map(
          everyValue((value) =>
            typeof value === "string"
              ? value.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
              : value,
          ),
        ),
      detectedBy: { "upstream.tool-calls[chat,streaming,texts]": "UPSTREAM-REPLY" },
    },
    "provider.tool-nulls-lost": {
      summary: "Nulls inside the arguments of a tool call are dropped.",
      with: (calls) => calls.map(everyValue(withoutNulls)),
      detectedBy: { "upstream.tool-calls[chat,non-streaming,types]": "UPSTREAM-REPLY" },
    },
    "provider.tool-large-arguments-lost": {
      mayBreak: ["UPSTREAM-LONG-EVENT"],
      summary: "Arguments of more than 200,000 characters are replaced by an empty object.",
      with: (calls) => calls.map((call) => (call.text.length > 200_000 ? { ...call, text: "{}" } : call)),
      detectedBy: { "upstream.tool-calls[messages,streaming,large]": "UPSTREAM-REPLY" },
    },
    "provider.tool-same-calls-merged": {
      summary: "Parallel calls of one tool are merged: the last one wins.",
      with: (calls) => [...new Map(calls.map((call) => [call.name, call])).values()],
      detectedBy: { "upstream.tool-calls[messages,non-streaming,parallel]": "UPSTREAM-REPLY" },
    },
    "provider.tool-calls-out-of-order": {
      summary: "Parallel calls arrive sorted by the names of their tools.",
      with: (calls) => [...calls].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
      detectedBy: { "upstream.tool-calls[chat,streaming,parallel]": "UPSTREAM-REPLY" },
    },
    "provider.tool-calls-share-id": {
      summary: "Parallel calls of one tool have the same id.",
      with: (calls) => calls.map((call) => ({ ...call, id: `call_${call.name}` })),
      detectedBy: { "upstream.tool-calls[messages,streaming,parallel]": "UPSTREAM-REPLY" },
    },
  }),
  mutation("provider.tool-calls-share-index", {
    breaks: REPLY,
    summary: "All parallel calls of a chat stream have the index 0, so that clients join them.",
    apply: onRelayedText((text) => text.replace(/"tool_calls":\[\{"index":\d+/g, '"tool_calls":[{"index":0')),
    detectedBy: { "upstream.tool-calls[chat,streaming,parallel]": "UPSTREAM-REPLY" },
  }),
  ...grid(CONVERSATION, onToolList, {
    "provider.tools-limited-to-128": {
      summary: "The provider gets at most 128 tools.",
      with: (tools) => tools.slice(0, 128),
      detectedBy: { "upstream.tool-definitions[chat,non-streaming,200-tools]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tools-reversed": {
      breaks: PARAMETERS,
      summary: "The provider gets the tools in reverse order.",
      with: (tools) => [...tools].reverse(),
      detectedBy: { "upstream.tool-definitions[messages,streaming,200-tools]": "UPSTREAM-PARAMETERS" },
    },
  }),
  ...grid(CONVERSATION, onProviderTools, {
    "provider.tool-names-cut": {
      summary: "The provider gets the names of tools cut to 48 characters.",
      with: (tool) => ({ ...tool, name: String(tool["name"]).slice(0, 48) }),
      detectedBy: { "upstream.tool-definitions[chat,streaming,schemas]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-descriptions-cut": {
      summary: "The provider gets the descriptions of tools cut to 100 characters.",
      with: (tool) => ({ ...tool, description: String(tool["description"]).slice(0, 100) }),
      detectedBy: { "upstream.tool-definitions[messages,non-streaming,schemas]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-schemas-opened": {
      summary: "`additionalProperties` is removed from the schemas of tools.",
      with: withSchema(withoutKeywords("additionalProperties")),
      detectedBy: { "upstream.tool-definitions[messages,streaming,200-tools]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-schema-references-lost": {
      summary: "References and definitions are removed from the schemas of tools.",
      with: withSchema(withoutKeywords("$ref", "$defs")),
      detectedBy: { "upstream.tool-definitions[chat,non-streaming,schemas]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-strict-lost": {
      breaks: PARAMETERS,
      summary: "`strict` is removed from tools.",
      with: withoutStrict,
      detectedBy: { "upstream.tool-definitions[messages,streaming,schemas]": "UPSTREAM-PARAMETERS" },
    },
  }),
  mutation("provider.parallel-calls-allowed", {
    breaks: PARAMETERS,
    summary: "The provider may make parallel calls although the caller forbids them.",
    apply: all(
      withoutFields("parallel_tool_calls"),
      onProviderBody((body) => {
        const choice = body["tool_choice"];
        if (!isObject(choice)) return body;
        const { disable_parallel_tool_use: _, ...rest } = choice as JsonObject & {
          disable_parallel_tool_use?: JsonValue;
        };
        return { ...body, tool_choice: rest as JsonObject };
      }),
    ),
    detectedBy: {
      "upstream.tool-definitions[chat,streaming,one-named-call]": "UPSTREAM-PARAMETERS",
      "upstream.tool-definitions[messages,non-streaming,one-named-call]": "UPSTREAM-PARAMETERS",
    },
  }),
  ...grid(CONVERSATION, onToolHistory, {
    "provider.tool-result-lost": {
      summary: "The provider gets only the first of the results of a conversation.",
      with: { result: (result, index) => (index === 0 ? result : undefined) },
      detectedBy: { "upstream.tool-results[chat,non-streaming]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-result-ids-changed": {
      summary: "The ids of tool results are cut to 8 characters, those of the calls are not.",
      with: {
        result: (result) => {
          const name = result["role"] === "tool" ? "tool_call_id" : "tool_use_id";
          return { ...result, [name]: String(result[name]).slice(0, 8) };
        },
      },
      detectedBy: { "upstream.tool-results[messages,streaming]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-results-escaped": {
      summary: "Results of tools reach the provider as JSON strings.",
      with: { result: (result) => ({ ...result, content: JSON.stringify(result["content"] ?? "") }) },
      detectedBy: { "upstream.tool-results[messages,non-streaming]": "UPSTREAM-CONVERSATION" },
    },
    "provider.tool-error-mark-lost": {
      summary: "The provider does not see that a tool failed.",
      with: { result: ({ is_error: _, ...result }) => result },
      detectedBy: { "upstream.tool-results[messages,non-streaming]": "UPSTREAM-CONVERSATION" },
    },
    "provider.earlier-nulls-lost": {
      summary: "Nulls in the arguments of earlier calls do not reach the provider.",
      with: { call: withEarlierArguments((input) => mapValues(input, withoutNulls)) },
      detectedBy: { "upstream.tool-results[chat,streaming]": "UPSTREAM-CONVERSATION" },
    },
  }),
  mutation("provider.tool-results-swapped", {
    breaks: CONVERSATION,
    summary: "The results of two parallel calls are swapped, because both calls are of the same tool.",
    apply: onProviderBody((body) => ({ ...body, messages: swapped(body["messages"]) })),
    detectedBy: { "upstream.tool-results[chat,streaming]": "UPSTREAM-CONVERSATION" },
  }),
  ...grid(PARAMETERS, onFormat, {
    "provider.format-schema-opened": {
      summary: "`additionalProperties` is removed from the schema of a structured output.",
      with: (format) => ({ ...format, schema: withoutKeywords("additionalProperties")(format["schema"] ?? {}) }),
      detectedBy: { "upstream.structured-output[messages,streaming]": "UPSTREAM-PARAMETERS" },
    },
    "provider.format-strict-lost": {
      summary: "`strict` is removed from the format of a structured output.",
      with: withoutStrict,
      detectedBy: { "upstream.structured-output[chat,streaming]": "UPSTREAM-PARAMETERS" },
    },
  }),
  mutation("provider.schema-replaced-by-json-object", {
    breaks: PARAMETERS,
    summary: "The provider is requested to reply with any JSON instead of JSON of a schema.",
    apply: onProviderBody(({ response_format, output_config, ...body }) => ({
      ...body,
      ...(response_format === undefined ? {} : { response_format: { type: "json_object" } }),
      ...(output_config === undefined ? {} : { output_config: { format: { type: "json_object" } } }),
    })),
    detectedBy: {
      "upstream.structured-output[chat,non-streaming]": "UPSTREAM-PARAMETERS",
      "upstream.structured-output[messages,non-streaming]": "UPSTREAM-PARAMETERS",
    },
  }),
  mutation("provider.structured-output-fenced", {
    breaks: REPLY,
    summary: "The JSON of a structured output is put into a code block.",
    apply: onRelayedReply((value, call) =>
      wantsFormat(call.parsed)
        ? (JSON.parse(
            JSON.stringify(value, (name, inner: unknown) =>
              (name === "content" || name === "text") && typeof inner === "string"
                ? `\`\`\`json\n${inner}\n\`\`\``
                : inner,
            ),
          ) as JsonObject)
        : value,
    ),
    detectedBy: {
      "upstream.structured-output[chat,non-streaming]": "UPSTREAM-REPLY",
      "upstream.structured-output[messages,non-streaming]": "UPSTREAM-REPLY",
    },
  }),
];

/** Swaps the contents of the first two results of a conversation. */
function swapped(messages: JsonValue | undefined): JsonValue {
  const copy = JSON.parse(JSON.stringify(messages ?? [])) as Record<string, JsonValue>[];
  const blocks = copy.flatMap((turn) =>
    turn["role"] === "tool" ? [turn] : Array.isArray(turn["content"]) ? (turn["content"] as typeof copy) : [],
  );
  const [first, second] = blocks.filter((block) => block["role"] === "tool" || block["type"] === "tool_result");
  if (first === undefined || second === undefined) return copy;
  [first["content"], second["content"]] = [second["content"] ?? "", first["content"] ?? ""];
  return copy;
}

import { isObject, type JsonObject, type JsonValue, listOf } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { onProviderBody } from "../../edits/provider-edits.ts";
import {
  onFormat,
  onProviderTools,
  onRelayedCalls,
  onToolHistory,
  onToolList,
  type ToolCall,
  withEarlierArguments,
  withSchema,
} from "../../edits/tool-edits.ts";
import { all } from "../../edits/wrap.ts";

/** Reverses the order of the members of objects, at any depth. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}

const unchanged = (calls: readonly ToolCall[]) => calls;

/** Maximum number of fragments: every one is an event. */
const MAX_FRAGMENTS = 4_000;

function inShortFragments(text: string): string[] {
  const letters = [...text];
  const each = Math.max(3, Math.ceil(letters.length / MAX_FRAGMENTS));
  return Array.from({ length: Math.ceil(letters.length / each) }, (_none, at) =>
    letters.slice(at * each, (at + 1) * each).join(""),
  );
}

const PREFIX = "gw_";

/** Replaces the ids of calls and results of a conversation, each by the same one everywhere. */
function renumbered(body: JsonObject): JsonObject {
  const ids = new Map<string, string>();
  const own = (id: unknown) => {
    const known = ids.get(String(id)) ?? `call_${ids.size + 1}`;
    ids.set(String(id), known);
    return known;
  };
  const rename = (part: JsonObject): JsonObject => ({
    ...part,
    ...(part["type"] === "tool_use" || part["type"] === "function" ? { id: own(part["id"]) } : {}),
    ...("tool_use_id" in part ? { tool_use_id: own(part["tool_use_id"]) } : {}),
    ...("tool_call_id" in part ? { tool_call_id: own(part["tool_call_id"]) } : {}),
  });
  const inList = (list: JsonValue | undefined): JsonValue =>
    Array.isArray(list) ? (list as readonly JsonObject[]).map(rename) : (list ?? null);
  const messages = (listOf(body["messages"]) as readonly JsonObject[]).map((turn) => ({
    ...rename(turn),
    content: inList(turn["content"]),
    ...("tool_calls" in turn ? { tool_calls: inList(turn["tool_calls"]) } : {}),
  }));
  return { ...body, messages };
}

const asParts = (content: JsonValue | undefined): JsonValue =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

/** Conformant gateways that handle tools and structured outputs in an unusual way. */
export const RELAYED_TOOL_VARIANTS: readonly Variant[] = [
  variant(
    "provider.tool-arguments-in-one-piece",
    "The arguments of a streamed tool call arrive in one piece.",
    onRelayedCalls(unchanged),
  ),
  variant(
    "provider.tool-arguments-in-short-pieces",
    "The arguments of a streamed tool call arrive in pieces of a few characters.",
    onRelayedCalls(unchanged, inShortFragments),
  ),
  variant(
    "provider.tool-arguments-reserialised",
    "The arguments of tool calls arrive indented, and their members in another order.",
    onRelayedCalls((calls) =>
      calls.map((call) => ({ ...call, text: JSON.stringify(reversed(JSON.parse(call.text) as JsonValue), null, 2) })),
    ),
  ),
  variant(
    "provider.tool-arguments-escaped",
    "Non-ASCII characters in the arguments of tool calls arrive as JSON escapes.",
    onRelayedCalls((calls) =>
      calls.map((call) => ({
        ...call,
        text: call.text.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
      })),
    ),
  ),
  variant(
    "provider.tool-call-ids-replaced",
    "Tool calls have ids of the gateway, which the provider does not see.",
    all(
      onRelayedCalls((calls) => calls.map((call) => ({ ...call, id: `${PREFIX}${call.id}` }))),
      onProviderBody(
        (body) => JSON.parse(JSON.stringify(body).replaceAll(new RegExp(`(?<=id":")${PREFIX}`, "g"), "")) as JsonObject,
      ),
    ),
  ),
  variant(
    "provider.earlier-call-ids-renumbered",
    "The provider gets the calls and results of a conversation with ids of the gateway.",
    onProviderBody(renumbered),
  ),
  variant(
    "provider.earlier-arguments-reserialised",
    "The arguments of earlier tool calls reach the provider indented, and their members in another order.",
    onToolHistory({ call: withEarlierArguments(reversed, 2) }),
  ),
  variant(
    "provider.tool-results-as-parts",
    "The results of tools reach the provider as a list of one part.",
    onToolHistory({ result: (result) => ({ ...result, content: asParts(result["content"]) }) }),
  ),
  variant(
    "provider.tools-marked-for-the-cache",
    "The last tool is marked for the provider's cache.",
    onToolList((tools) =>
      tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, cache_control: { type: "ephemeral" } } : tool)),
    ),
  ),
  variant(
    "provider.schemas-reserialised",
    "The schemas of tools and structured outputs reach the provider with their members in another order.",
    all(
      onProviderTools(withSchema(reversed)),
      onFormat((format) => ({ ...format, schema: reversed(format["schema"] ?? {}) })),
    ),
  ),
];

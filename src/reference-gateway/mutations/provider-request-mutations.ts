import { isObject, type JsonObject } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import {
  listOf,
  onProviderBody,
  onProviderRequest,
  onTexts,
  withoutFields,
  withProviderHeaders,
} from "../edits/provider-edits.ts";
import { always, multiTurn, nonStreaming, onChat, streaming } from "../edits/when.ts";
import type { Call } from "../pipeline/behaviour.ts";

const CONVERSATION = ["UPSTREAM-CONVERSATION"];
const PARAMETERS = ["UPSTREAM-PARAMETERS"];
const CALLER_KEY = ["UPSTREAM-CALLER-KEY"];

const callersKey = (call: Call): string => call.behaviour.presentedKey(call) ?? "";
const turnsOf = (body: JsonObject) => listOf(body["messages"]) as readonly JsonObject[];

/** What is sent to providers. */
export const PROVIDER_REQUEST_MUTATIONS: readonly Mutation[] = [
  mutation(
    "provider.caller-key-passed-on",
    CALLER_KEY,
    "Providers get the caller's key instead of the operator's.",
    withProviderHeaders((call) => ({ authorization: `Bearer ${callersKey(call)}` })),
  ),
  mutation(
    "provider.caller-key-beside",
    CALLER_KEY,
    "Providers get the caller's key in an extra header.",
    withProviderHeaders((call) => ({ "x-forwarded-authorization": `Bearer ${callersKey(call)}` })),
  ),
  mutation(
    "provider.caller-key-as-user",
    CALLER_KEY,
    "Providers get the caller's key as the user of the request.",
    onProviderBody((body, call) => ({ ...body, user: callersKey(call) })),
  ),
  mutation(
    "provider.caller-key-on-streams",
    CALLER_KEY,
    "On streaming requests, providers get the caller's key as an API key.",
    withProviderHeaders((call) => ({ "x-api-key": callersKey(call) }), streaming),
  ),
  mutation(
    "provider.texts-trimmed",
    CONVERSATION,
    "Spaces around a turn are trimmed before it reaches the provider.",
    onTexts((text) => text.trim()),
  ),
  mutation(
    "provider.spaces-joined",
    CONVERSATION,
    "Runs of spaces and tabs are collapsed before they reach the provider.",
    onTexts((text) => text.replace(/[ \t]+/g, " ")),
  ),
  mutation(
    "provider.texts-normalised",
    CONVERSATION,
    "Characters are NFC-normalised before they reach the provider.",
    onTexts((text) => text.normalize("NFC")),
  ),
  mutation(
    "provider.control-characters-lost",
    CONVERSATION,
    "Control characters are removed before they reach the provider.",
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
    onTexts((text) => text.replace(/[\u0000-\u0008]/g, "")),
  ),
  mutation(
    "provider.long-texts-cut",
    CONVERSATION,
    "Turns longer than 8,000 characters reach the provider truncated.",
    onTexts((text) => text.slice(0, 8_000)),
  ),
  mutation(
    "provider.old-turns-lost",
    CONVERSATION,
    "The provider gets only the last eight turns of a long conversation.",
    onProviderBody((body) => ({ ...body, messages: turnsOf(body).slice(-8) })),
  ),
  mutation(
    "provider.turns-out-of-order",
    CONVERSATION,
    "The provider gets all user turns before the assistant turns.",
    onProviderBody((body) => {
      const turns = turnsOf(body);
      const isAssistant = ({ role }: JsonObject) => role === "assistant";
      return { ...body, messages: [...turns.filter((turn) => !isAssistant(turn)), ...turns.filter(isAssistant)] };
    }, multiTurn),
  ),
  mutation(
    "provider.system-prompt-lost",
    CONVERSATION,
    "The system prompt does not reach the provider.",
    onProviderBody(({ system: _, ...body }) => ({
      ...body,
      messages: turnsOf(body).filter(({ role }) => role !== "system"),
    })),
  ),
  mutation(
    "provider.images-lost",
    CONVERSATION,
    "The provider gets only the text parts of a turn.",
    onProviderBody((body) => ({
      ...body,
      messages: turnsOf(body).map((turn) => ({
        ...turn,
        content: Array.isArray(turn["content"])
          ? turn["content"].filter((part) => isObject(part) && part["type"] === "text")
          : (turn["content"] ?? null),
      })),
    })),
  ),
  mutation(
    "provider.tools-lost",
    [...CONVERSATION, ...PARAMETERS],
    "Tools do not reach the provider.",
    withoutFields("tools"),
  ),
  mutation(
    "provider.one-tool-only",
    [...CONVERSATION, ...PARAMETERS],
    "The provider gets only the first tool.",
    onProviderBody((body) => (Array.isArray(body["tools"]) ? { ...body, tools: body["tools"].slice(0, 1) } : body)),
  ),
  mutation(
    "provider.sampling-lost",
    PARAMETERS,
    "Temperature and top_p do not reach the provider.",
    withoutFields("temperature", "top_p"),
  ),
  mutation(
    "provider.temperature-rounded",
    PARAMETERS,
    "The provider gets the temperature rounded to a whole number.",
    onProviderBody((body) =>
      typeof body["temperature"] === "number" ? { ...body, temperature: Math.round(body["temperature"]) } : body,
    ),
  ),
  mutation(
    "provider.stop-lost",
    PARAMETERS,
    "Stop sequences do not reach the provider.",
    withoutFields("stop", "stop_sequences"),
  ),
  mutation(
    "provider.tool-choice-lost",
    PARAMETERS,
    "tool_choice does not reach the provider.",
    withoutFields("tool_choice"),
  ),
  mutation(
    "provider.output-limit-lost",
    PARAMETERS,
    "The chat dialect's output limit does not reach the provider.",
    onProviderBody(({ max_tokens: _, ...body }) => body, onChat),
  ),
  mutation(
    "provider.unknown-fields-lost",
    PARAMETERS,
    "Fields unknown to the gateway do not reach the provider.",
    withoutFields("gauntlet_unknown"),
  ),
  mutation(
    "provider.connection-per-request",
    ["UPSTREAM-KEEP-ALIVE"],
    "Each request to a provider opens a new connection.",
    onProviderRequest(always, (requested) => ({ ...requested, closes: true })),
  ),
  mutation(
    "provider.not-cancelled",
    ["UPSTREAM-CANCEL"],
    "The provider's reply is not cancelled when the caller disconnects.",
    onProviderRequest(always, (requested) => ({ ...requested, signal: null })),
  ),
  mutation(
    "provider.replies-not-cancelled",
    ["UPSTREAM-CANCEL"],
    "The provider's non-streaming reply is not cancelled when the caller disconnects.",
    onProviderRequest(nonStreaming, (requested) => ({ ...requested, signal: null })),
  ),
  mutation(
    "provider.cancelled-late",
    ["UPSTREAM-CANCEL"],
    "The provider's reply is cancelled three seconds after the caller disconnects.",
    onProviderRequest(always, (requested) => ({ ...requested, signal: later(requested.signal, 3_000) })),
  ),
];

/** Fires some time after another signal. */
export function later(signal: AbortSignal | null, ms: number): AbortSignal | null {
  if (signal === null) return null;
  const controller = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}

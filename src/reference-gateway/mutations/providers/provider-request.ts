import { isObject, type JsonObject, listOf } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import {
  later,
  onProviderBody,
  onProviderRequest,
  onTexts,
  withoutFields,
  withProviderHeaders,
} from "../../edits/provider-edits.ts";
import { always, multiTurn, nonStreaming, onChat, streaming, type When } from "../../edits/when.ts";
import type { Call } from "../../pipeline/behaviour.ts";

const CONVERSATION = ["UPSTREAM-CONVERSATION"];
const PARAMETERS = ["UPSTREAM-PARAMETERS"];
const CALLER_KEY = ["UPSTREAM-CALLER-KEY"];

const callersKey = (call: Call): string => call.behaviour.presentedKey(call) ?? "";
const turnsOf = (body: JsonObject) => listOf(body["messages"]) as readonly JsonObject[];

/** What is sent to providers. */
export const PROVIDER_REQUEST_MUTATIONS: readonly Mutation[] = [
  ...grid(CALLER_KEY, withProviderHeaders, {
    "provider.caller-key-passed-on": {
      summary: "Providers get the caller's key instead of the operator's.",
      with: (call) => ({ authorization: `Bearer ${callersKey(call)}` }),
      detectedBy: { "upstream.caller-key[chat]": "UPSTREAM-CALLER-KEY" },
    },
    "provider.caller-key-forwarded": {
      summary: "Providers get the caller's key in an extra header.",
      with: (call) => ({ "x-forwarded-authorization": `Bearer ${callersKey(call)}` }),
    },
  }),
  ...grid(CONVERSATION, onProviderBody, {
    "provider.caller-key-as-user": {
      breaks: CALLER_KEY,
      summary: "Providers get the caller's key as the user of the request.",
      with: (body, call) => ({ ...body, user: callersKey(call) }),
      detectedBy: { "upstream.caller-key[messages]": "UPSTREAM-CALLER-KEY" },
    },
    "provider.old-turns-lost": {
      summary: "The provider gets only the last eight turns of a long conversation.",
      with: (body) => ({ ...body, messages: turnsOf(body).slice(-8) }),
    },
    "provider.system-prompt-lost": {
      summary: "The system prompt does not reach the provider.",
      with: ({ system: _, ...body }) => ({
        ...body,
        messages: turnsOf(body).filter(({ role }) => role !== "system"),
      }),
    },
    "provider.images-lost": {
      summary: "The provider gets only the text parts of a turn.",
      with: (body) => ({
        ...body,
        messages: turnsOf(body).map((turn) => ({
          ...turn,
          content: Array.isArray(turn["content"])
            ? turn["content"].filter((part) => isObject(part) && part["type"] === "text")
            : (turn["content"] ?? null),
        })),
      }),
      detectedBy: { "upstream.conversation[chat,image]": "UPSTREAM-CONVERSATION" },
    },
    "provider.one-tool-only": {
      breaks: [...CONVERSATION, ...PARAMETERS],
      summary: "The provider gets only the first tool.",
      with: (body) => (Array.isArray(body["tools"]) ? { ...body, tools: body["tools"].slice(0, 1) } : body),
    },
    "provider.temperature-rounded": {
      breaks: PARAMETERS,
      summary: "The provider gets the temperature rounded to a whole number.",
      with: (body) =>
        typeof body["temperature"] === "number" ? { ...body, temperature: Math.round(body["temperature"]) } : body,
    },
  }),
  mutation("provider.caller-key-on-streams", {
    breaks: CALLER_KEY,
    summary: "On streaming requests, providers get the caller's key as an API key.",
    apply: withProviderHeaders((call) => ({ "x-api-key": callersKey(call) }), streaming),
  }),
  ...grid(CONVERSATION, onTexts, {
    "provider.texts-trimmed": {
      summary: "Spaces around a turn are trimmed before it reaches the provider.",
      with: (text) => text.trim(),
    },
    "provider.spaces-joined": {
      summary: "Runs of spaces and tabs are collapsed before they reach the provider.",
      with: (text) => text.replace(/[ \t]+/g, " "),
      detectedBy: { "upstream.conversation[chat,spaces]": "UPSTREAM-CONVERSATION" },
    },
    "provider.texts-normalised": {
      summary: "Characters are NFC-normalised before they reach the provider.",
      with: (text) => text.normalize("NFC"),
    },
    "provider.long-texts-cut": {
      summary: "Turns longer than 8,000 characters reach the provider truncated.",
      with: (text) => text.slice(0, 8_000),
    },
  }),
  mutation("provider.control-characters-lost", {
    breaks: CONVERSATION,
    summary: "Control characters are removed before they reach the provider.",
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
    apply: onTexts((text) => text.replace(/[\u0000-\u0008]/g, "")),
  }),
  mutation("provider.turns-out-of-order", {
    breaks: CONVERSATION,
    summary: "The provider gets all user turns before the assistant turns.",
    apply: onProviderBody((body) => {
      const turns = turnsOf(body);
      const isAssistant = ({ role }: JsonObject) => role === "assistant";
      return { ...body, messages: [...turns.filter((turn) => !isAssistant(turn)), ...turns.filter(isAssistant)] };
    }, multiTurn),
    detectedBy: { "upstream.conversation[messages,turns]": "UPSTREAM-CONVERSATION" },
  }),
  mutation("provider.tools-lost", {
    breaks: [...CONVERSATION, ...PARAMETERS],
    summary: "Tools do not reach the provider.",
    apply: withoutFields("tools"),
  }),
  mutation("provider.sampling-lost", {
    breaks: PARAMETERS,
    summary: "Temperature and top_p do not reach the provider.",
    apply: withoutFields("temperature", "top_p"),
  }),
  mutation("provider.stop-lost", {
    breaks: PARAMETERS,
    summary: "Stop sequences do not reach the provider.",
    apply: withoutFields("stop", "stop_sequences"),
  }),
  mutation("provider.tool-choice-lost", {
    breaks: PARAMETERS,
    summary: "tool_choice does not reach the provider.",
    apply: withoutFields("tool_choice"),
  }),
  mutation("provider.output-limit-lost", {
    breaks: PARAMETERS,
    summary: "The chat dialect's output limit does not reach the provider.",
    apply: onProviderBody(({ max_tokens: _, ...body }) => body, onChat),
  }),
  mutation("provider.unknown-fields-lost", {
    breaks: PARAMETERS,
    summary: "Fields unknown to the gateway do not reach the provider.",
    apply: withoutFields("gauntlet_unknown"),
    detectedBy: { "upstream.parameters[chat,unknown]": "UPSTREAM-PARAMETERS" },
  }),
  mutation("provider.connection-per-request", {
    breaks: ["UPSTREAM-KEEP-ALIVE"],
    summary: "Each request to a provider opens a new connection.",
    apply: onProviderRequest(always, (requested) => ({ ...requested, closes: true })),
    detectedBy: { "upstream.keep-alive": "UPSTREAM-KEEP-ALIVE" },
  }),
  ...grid(
    ["UPSTREAM-CANCEL"],
    (when: When) => onProviderRequest(when, (requested) => ({ ...requested, signal: null })),
    {
      "provider.not-cancelled": {
        summary: "The provider's reply is not cancelled when the caller disconnects.",
        with: always,
        detectedBy: { "upstream.cancelled[chat,before-first-token]": "UPSTREAM-CANCEL" },
      },
      "provider.replies-not-cancelled": {
        summary: "The provider's non-streaming reply is not cancelled when the caller disconnects.",
        with: nonStreaming,
      },
    },
  ),
  mutation("provider.cancelled-late", {
    breaks: ["UPSTREAM-CANCEL"],
    summary: "The provider's reply is cancelled three seconds after the caller disconnects.",
    apply: onProviderRequest(always, (requested) => ({ ...requested, signal: later(requested.signal, 3_000) })),
  }),
];

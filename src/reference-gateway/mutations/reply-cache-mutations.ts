import { type Mutation, mutation } from "../change.ts";
import { put } from "../edits/replies/json-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { both, nonStreaming, onChat, onMessages, remembered, streaming, type When } from "../edits/when.ts";
import { type Apply, all, eachEvent, onReply, wrap } from "../edits/wrap.ts";
import type { InferenceRequest } from "../pipeline/read/inference-request.ts";
import type { Plan } from "../providers/plan.ts";

/** Caches replies by the model and a part of the request; the rest of the request is ignored. */
const storedBy = (part: (request: InferenceRequest) => Partial<InferenceRequest>, when: When): Apply => {
  const stored = remembered(() => new Map<string, Plan>());
  return wrap("plan", (next) => (model, request, call) => {
    const plan = next(model, request, call);
    if (!when(call) || plan.kind !== "reply" || plan.breaksAfter !== undefined) return plan;
    const key = JSON.stringify([model.id, call.endpoint, part(request)]);
    const known = stored(call).get(key) ?? plan;
    stored(call).set(key, known);
    return known;
  });
};

const withoutHistory = ({ turns, ...rest }: InferenceRequest) => ({ ...rest, turns: turns.slice(-1) });
const withoutSystem = ({ system: _, ...rest }: InferenceRequest) => ({
  ...rest,
  turns: rest.turns.filter(({ role }) => role !== "system"),
});
const withoutTools = ({ tools: _, ...rest }: InferenceRequest) => rest;
const withoutLimit = ({ maxTokens: _, ...rest }: InferenceRequest) => rest;

const OWN = ["OWN-ANSWER"];
const COUNTS = ["COUNTS-ADD-UP"];

/** Some counts become 0, and the total the sum of the rest. */
const zeros =
  (...names: readonly string[]) =>
  (usage: unknown): unknown => {
    const counts = { ...(usage as Record<string, number>) };
    for (const name of names) if (name in counts) counts[name] = 0;
    if ("total_tokens" in counts)
      counts["total_tokens"] = Number(counts["prompt_tokens"]) + Number(counts["completion_tokens"]);
    return counts;
  };

/** Reply caches that ignore a part of the request, and replies whose tokens do not count. */
export const REPLY_CACHE_MUTATIONS: readonly Mutation[] = [
  mutation(
    "reply-cache.ignores-history",
    OWN,
    "The cache of non-streaming replies is keyed by the last turn only.",
    storedBy(withoutHistory, nonStreaming),
  ),
  mutation(
    "reply-cache.ignores-history-of-streams",
    OWN,
    "The cache of streams is keyed by the last turn only.",
    storedBy(withoutHistory, streaming),
  ),
  mutation(
    "reply-cache.ignores-system",
    // Models that repeat their prompt do not show their other inputs.
    OWN,
    "The cache of non-streaming messages replies ignores the system prompt.",
    storedBy(withoutSystem, both(onMessages, nonStreaming)),
  ),
  mutation(
    "reply-cache.ignores-tools",
    [...OWN, "COMPAT-TOOLS"],
    "The cache of non-streaming chat replies ignores the tools.",
    storedBy(withoutTools, both(onChat, nonStreaming)),
  ),
  mutation(
    "reply-cache.ignores-output-limit",
    [...OWN, "MSG-6"],
    "The cache of non-streaming replies ignores the output limit.",
    storedBy(withoutLimit, nonStreaming),
  ),
  mutation(
    "usage.output-zero",
    [...COUNTS, "COMPAT-USAGE"],
    "Non-streaming replies report 0 output tokens.",
    onReply(() => true, put("usage", zeros("completion_tokens", "output_tokens"))),
  ),
  mutation(
    "usage.input-zero",
    [...COUNTS, "COMPAT-USAGE"],
    "Non-streaming replies report 0 input tokens.",
    onReply(() => true, put("usage", zeros("prompt_tokens", "input_tokens"))),
  ),
  mutation(
    "usage.output-zero-in-streams",
    [...COUNTS, "COMPAT-USAGE"],
    "The last event with usage in a stream reports 0 output tokens.",
    all(
      eachEvent(onChat, ["usage"], changeData(put("usage", zeros("completion_tokens")))),
      eachEvent(onMessages, ["finish"], changeData(put("usage", zeros("output_tokens")))),
    ),
  ),
];

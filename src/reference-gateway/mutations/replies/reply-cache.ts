import { grid, type Mutation, mutation } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, nonStreaming, onChat, onMessages, remembered, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, eachEvent, onReply, wrap } from "../../edits/wrap.ts";
import type { InferenceRequest } from "../../pipeline/read/inference-request.ts";
import type { Plan } from "../../providers/plan.ts";

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
  ...grid(OWN, (when: When) => storedBy(withoutHistory, when), {
    "reply-cache.ignores-history": {
      summary: "The cache of non-streaming replies is keyed by the last turn only.",
      with: nonStreaming,
      detectedBy: { "robustness.reply-cache[messages,history]": "OWN-ANSWER" },
    },
    "reply-cache.ignores-history-of-streams": {
      summary: "The cache of streams is keyed by the last turn only.",
      with: streaming,
      detectedBy: { "robustness.reply-cache[chat,history-of-streams]": "OWN-ANSWER" },
    },
  }),
  mutation("reply-cache.ignores-system", {
    // Models that repeat their prompt do not show their other inputs.
    breaks: OWN,
    summary: "The cache of non-streaming messages replies ignores the system prompt.",
    apply: storedBy(withoutSystem, both(onMessages, nonStreaming)),
    detectedBy: { "robustness.reply-cache[messages,system]": "OWN-ANSWER" },
  }),
  mutation("reply-cache.ignores-tools", {
    breaks: [...OWN, "COMPAT-TOOLS"],
    summary: "The cache of non-streaming chat replies ignores the tools.",
    apply: storedBy(withoutTools, both(onChat, nonStreaming)),
    detectedBy: { "robustness.reply-cache[chat,tools]": "OWN-ANSWER" },
  }),
  mutation("reply-cache.ignores-output-limit", {
    breaks: [...OWN, "MSG-6"],
    summary: "The cache of non-streaming replies ignores the output limit.",
    apply: storedBy(withoutLimit, nonStreaming),
    detectedBy: { "robustness.reply-cache[chat,output-limit]": "OWN-ANSWER" },
  }),
  mutation("usage.output-zero", {
    breaks: [...COUNTS, "COMPAT-USAGE"],
    summary: "Non-streaming replies report 0 output tokens.",
    apply: onReply(() => true, put("usage", zeros("completion_tokens", "output_tokens"))),
  }),
  mutation("usage.input-zero", {
    breaks: [...COUNTS, "COMPAT-USAGE"],
    summary: "Non-streaming replies report 0 input tokens.",
    apply: onReply(() => true, put("usage", zeros("prompt_tokens", "input_tokens"))),
  }),
  mutation("usage.output-zero-in-streams", {
    breaks: [...COUNTS, "COMPAT-USAGE"],
    summary: "The last event with usage in a stream reports 0 output tokens.",
    apply: all(
      eachEvent(onChat, ["usage"], changeData(put("usage", zeros("completion_tokens")))),
      eachEvent(onMessages, ["finish"], changeData(put("usage", zeros("output_tokens")))),
    ),
  }),
];

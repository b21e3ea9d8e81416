import { loadMutation, type Mutation } from "../change.ts";
import { every, nonStreaming, streaming } from "../edits/when.ts";
import { type Apply, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Closing } from "../pipeline/outcome.ts";

/** A leaked lease lowers the limit the next time it is reached. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

/** Some requests stay in flight forever. */
const leaks = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("release", (next) => (call, closing) => {
    if (!when(call, closing)) next(call, closing);
  });

const sinceArrivalMs = (call: Call): number => (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000;

const abandoned = (closing: Closing) => closing.outcome === "interrupted";

/** Requests that stay in flight forever. */
export const CONCURRENCY_LEAK_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "concurrency.leaked-by-streams",
    LEAK,
    "Every tenth complete stream counts as in flight forever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(10, streaming)),
    ),
  ),
  loadMutation(
    "concurrency.leaked-by-non-streaming-replies",
    LEAK,
    "Every fiftieth complete reply counts as in flight forever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          closing.outcome === "complete" && unlucky(call)
      )(every(50, nonStreaming)),
    ),
  ),
  loadMutation(
    "concurrency.leaked-by-output-limit",
    LEAK,
    "A reply truncated by its output limit counts as in flight forever.",
    leaks((call) => call.request?.maxTokens !== undefined && call.request.maxTokens < 8),
  ),
  loadMutation(
    "concurrency.leaked-by-upstream-failures",
    LEAK,
    "A request whose provider failed counts as in flight forever.",
    leaks((_call, closing) => closing.outcome === "failed"),
  ),
  loadMutation(
    "concurrency.leaked-by-tool-calls",
    LEAK,
    "A reply with tool calls counts as in flight forever.",
    leaks((call, closing) => closing.outcome === "complete" && call.model?.id === "tool-caller"),
  ),
  loadMutation(
    "concurrency.leaked-by-timeouts",
    LEAK,
    "A request whose provider timed out counts as in flight forever.",
    leaks((call, closing) => closing.outcome === "failed" && call.model?.id === "fail-timeout"),
  ),
  loadMutation(
    "concurrency.leaked-by-broken-streams",
    LEAK,
    "A stream that its provider interrupted counts as in flight forever.",
    leaks((_call, closing) => closing.outcome === "broken"),
  ),
  loadMutation(
    "concurrency.leaked-by-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "A stream whose client disconnected counts as in flight forever.",
    leaks((call, closing) => abandoned(closing) && streaming(call)),
  ),
  loadMutation(
    "concurrency.leaked-by-streams-left-late",
    ["LIMIT-CONC-5"],
    "A stream whose client disconnected after more than a second counts as in flight forever.",
    leaks((call, closing) => abandoned(closing) && streaming(call) && sinceArrivalMs(call) > 1_000),
  ),
  loadMutation(
    "concurrency.leaked-by-abandoned-replies",
    ["LIMIT-CONC-5", ...LEAK],
    "A non-streaming request whose client disconnected counts as in flight forever.",
    leaks((call, closing) => abandoned(closing) && nonStreaming(call)),
  ),
  loadMutation(
    "concurrency.leaked-by-some-abandoned-streams",
    ["LIMIT-CONC-5", ...LEAK],
    "Every third stream whose client disconnected counts as in flight forever.",
    leaks(
      (
        (unlucky) => (call: Call, closing: Closing) =>
          abandoned(closing) && unlucky(call)
      )(every(3, streaming)),
    ),
  ),
];

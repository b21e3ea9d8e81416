import { loadGrid, type Mutation } from "../../change.ts";
import { always, every, nonStreaming, streaming, type When } from "../../edits/when.ts";
import { type Apply, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Closing } from "../../pipeline/outcome.ts";

/** A leaked lease lowers the limit the next time it is reached. */
const LEAK = ["LIMIT-CONC-4", "LIMIT-CONC-2"];

/** Some requests stay in flight forever. */
const leaks = (when: (call: Call, closing: Closing) => boolean): Apply =>
  wrap("release", (next) => (call, closing) => {
    if (!when(call, closing)) next(call, closing);
  });

const sinceArrivalMs = (call: Call): number => (call.services.clock.monotonicUs() - call.arrival.arrivedUs) / 1_000;

/** Requests with this outcome; `interrupted` means that the client disconnected. */
const ended =
  (outcome: Closing["outcome"], when: When = always) =>
  (call: Call, closing: Closing): boolean =>
    closing.outcome === outcome && when(call);

/** Requests that stay in flight forever. */
export const CONCURRENCY_LEAK_MUTATIONS: readonly Mutation[] = [
  ...loadGrid(LEAK, leaks, {
    "concurrency.leaked-by-streams": {
      summary: "Every tenth complete stream counts as in flight forever.",
      with: ended("complete", every(10, streaming)),
    },
    "concurrency.leaked-by-non-streaming-replies": {
      summary: "Every fiftieth complete reply counts as in flight forever.",
      with: ended("complete", every(50, nonStreaming)),
    },
    "concurrency.leaked-by-output-limit": {
      summary: "A reply truncated by its output limit counts as in flight forever.",
      with: (call) => call.request?.maxTokens !== undefined && call.request.maxTokens < 8,
      shownBy: "checks",
    },
    "concurrency.leaked-by-upstream-failures": {
      summary: "A request whose provider failed counts as in flight forever.",
      with: ended("failed"),
    },
    "concurrency.leaked-by-tool-calls": {
      summary: "A reply with tool calls counts as in flight forever.",
      with: ended("complete", (call) => call.model?.id === "tool-caller"),
      shownBy: "checks",
    },
    "concurrency.leaked-by-timeouts": {
      summary: "A request whose provider timed out counts as in flight forever.",
      with: ended("failed", (call) => call.model?.id === "fail-timeout"),
      shownBy: "checks",
    },
    "concurrency.leaked-by-broken-streams": {
      summary: "A stream that its provider interrupted counts as in flight forever.",
      with: ended("broken"),
    },
    "concurrency.leaked-by-abandoned-streams": {
      breaks: ["LIMIT-CONC-5", ...LEAK],
      summary: "A stream whose client disconnected counts as in flight forever.",
      with: ended("interrupted", streaming),
    },
    "concurrency.leaked-by-streams-left-late": {
      breaks: ["LIMIT-CONC-5"],
      summary: "A stream whose client disconnected after more than a second counts as in flight forever.",
      with: ended("interrupted", (call) => streaming(call) && sinceArrivalMs(call) > 1_000),
      shownBy: "checks",
    },
    "concurrency.leaked-by-abandoned-replies": {
      breaks: ["LIMIT-CONC-5", ...LEAK],
      summary: "A non-streaming request whose client disconnected counts as in flight forever.",
      with: ended("interrupted", nonStreaming),
    },
    "concurrency.leaked-by-some-abandoned-streams": {
      breaks: ["LIMIT-CONC-5", ...LEAK],
      summary: "Every third stream whose client disconnected counts as in flight forever.",
      with: ended("interrupted", every(3, streaming)),
    },
  }),
];

/**
 * The latencies of one kind of request, ms. Each has a field `<name>Ms` in the run record, a tag in the histogram log, and the name
 * `metric` in thresholds. Reports show `label`, and `note` for what it measures. To add one, add a row here and measure it in
 * `class-tally.ts`.
 */
export const LATENCY_FIGURES = {
  /** From the due time to the end. */
  response: { metric: "response_ms", label: "E2E latency", note: "response time" },
  /** From the send to the end. */
  service: { metric: "service_ms", label: "Service time", note: "from the send" },
  /** From the send to the first output of any kind: text, reasoning, a tool call. Streams only. */
  ttft: { metric: "ttft_ms", label: "TTFT", note: "first token" },
  /** From the send to the first token of the reply text, of streams that have other output as well. */
  textTtft: { metric: "ttft_text_ms", label: "TTFT of the text", note: "after reasoning" },
  /** Every gap between consecutive events with output. Streams only. */
  eventGap: { metric: "event_gap_ms", label: "Event gap", note: "between events" },
  /** Inter-token latency: the gaps between events, divided by the tokens per event. Only streams that state their tokens. */
  itl: { metric: "itl_ms", label: "ITL", note: "between tokens" },
  /** From the send: connection ready, head, first byte of the body, first complete event. */
  connect: { metric: "connect_ms" },
  headers: { metric: "headers_ms" },
  firstByte: { metric: "first_byte_ms" },
  firstEvent: { metric: "first_event_ms" },
  longestStall: { metric: "longest_stall_ms", label: "Longest gap", note: "of each stream" },
  /** Time per output token after the first. */
  perToken: { metric: "per_token_ms", label: "TPOT", note: "per output token" },
} as const satisfies Record<string, { readonly metric: string; readonly label?: string; readonly note?: string }>;

export type LatencyFigure = keyof typeof LATENCY_FIGURES;
export type LatencyMetric = (typeof LATENCY_FIGURES)[LatencyFigure]["metric"];
export const LATENCY_FIGURE_NAMES = Object.keys(LATENCY_FIGURES) as readonly LatencyFigure[];

/** One value for each figure, by its field in the run record. */
export function latencyFields<T>(read: (figure: LatencyFigure) => T): Record<`${LatencyFigure}Ms`, T> {
  const entries = LATENCY_FIGURE_NAMES.map((name) => [`${name}Ms`, read(name)] as const);
  return Object.fromEntries(entries) as Record<`${LatencyFigure}Ms`, T>;
}

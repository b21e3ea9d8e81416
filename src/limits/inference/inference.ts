export type Confidence = "high" | "medium" | "low" | "none";

/** One result with its evidence. `value` is `null` for "cannot tell". */
export interface Inference<T> {
  readonly value: T | null;
  readonly confidence: Confidence;
  /** As text, with request numbers and times. */
  readonly evidence: string;
}

export type Confidence = "high" | "medium" | "low" | "none";

/** One result with its evidence. `answer` is `null` for "cannot tell". */
export interface Inference<T> {
  readonly answer: T | null;
  readonly confidence: Confidence;
  /** As text, with request numbers and times. */
  readonly evidence: string;
}

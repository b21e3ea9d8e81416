export type Confidence = "high" | "medium" | "low" | "none";

/** One answer with what speaks for it. `answer` is `null` for "cannot tell". */
export interface Inference<T> {
  readonly answer: T | null;
  readonly confidence: Confidence;
  /** In words, with numbers of requests and moments. */
  readonly evidence: string;
}

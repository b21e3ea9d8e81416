/** A request as it came to the upstream. */
export interface ReceivedRequest {
  readonly connection: number;
  /** Requests that came on the connection before. */
  readonly earlier: number;
  readonly receivedMs: number;
  readonly endMs: number | undefined;
  readonly body: string;
  readonly bodyBytes: number;
}

/** What came to the upstream, and what it answers, by the marker in a request. */
export interface UpstreamLog {
  readonly control: {
    answer(marker: string, answers: { readonly "*": { readonly latencyMs?: number } }): Promise<void>;
    requests(marker: string): Promise<{ readonly requests: readonly ReceivedRequest[] }>;
  };
  /** Model of the gateway that this upstream serves; `undefined`: the one of the measurement. */
  readonly model: string | undefined;
}

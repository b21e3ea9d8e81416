/** A request as it arrived at the upstream. */
export interface ReceivedRequest {
  readonly connection: number;
  /** Requests that arrived earlier on the connection. */
  readonly earlier: number;
  readonly receivedMs: number;
  readonly endMs: number | undefined;
  readonly body: string;
  readonly bodyBytes: number;
}

/** What arrived at the upstream, and how it responds, by the marker in a request. */
export interface UpstreamLog {
  readonly control: {
    setResponses(marker: string, script: { readonly "*": { readonly latencyMs?: number } }): Promise<void>;
    requests(marker: string): Promise<{ readonly requests: readonly ReceivedRequest[] }>;
  };
  /** Model of the gateway that this upstream serves; `undefined`: the measurement's model. */
  readonly model: string | undefined;
}

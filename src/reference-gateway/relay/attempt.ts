import type { ProviderFailure } from "../providers/plan.ts";
import type { UpstreamProvider } from "./upstream.ts";

/** An attempt that did not serve the request. */
export interface FailedAttempt {
  readonly provider: UpstreamProvider;
  readonly failure: ProviderFailure;
  /** The provider had started a reply and may have done the work. */
  readonly hasBegun: boolean;
}

/** The next provider to call, and the pause before it, ms. */
export interface NextAttempt {
  readonly provider: UpstreamProvider;
  readonly afterMs: number;
}

/** A request to a provider. */
export interface ProviderRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Fires when the provider's response is no longer needed. */
  readonly signal: AbortSignal | null;
  /** Whether the connection is closed afterwards. */
  readonly closes: boolean;
}

import type { ProviderFailure } from "../providers/plan.ts";
import type { UpstreamProvider } from "./upstream.ts";

/** An attempt that did not serve the request. */
export interface FailedAttempt {
  readonly provider: UpstreamProvider;
  readonly failure: ProviderFailure;
  /** The provider had begun a reply, so that it may have done the work. */
  readonly hasBegun: boolean;
}

/** Whom to ask next, and after which pause, ms. */
export interface NextAttempt {
  readonly provider: UpstreamProvider;
  readonly afterMs: number;
}

/** What is sent to a provider. */
export interface ProviderRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Fires when the provider need not go on. */
  readonly signal: AbortSignal | null;
  /** Whether the connection is closed afterwards. */
  readonly closes: boolean;
}

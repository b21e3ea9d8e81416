import { ConfigError } from "../../core/index.ts";
import type { ScriptInput, UpstreamRequest } from "../../upstream/index.ts";
import type { Target, UpstreamTarget } from "../target.ts";
import { callControl } from "./control-interface.ts";

/** What the providers received with one marker. */
export interface SeenUpstream {
  /** The upstream's clock, on which its times are based, ms. */
  readonly nowMs: number;
  /** Oldest first. */
  readonly requests: readonly UpstreamRequest[];
}

/** The control interface of the providers behind the gateway (`gauntlet upstream`). */
export interface UpstreamControl {
  /** Sets the responses to further requests with a marker, by provider. */
  setResponses(marker: string, script: ScriptInput): Promise<void>;
  requests(marker: string): Promise<SeenUpstream>;
  /** The unmasked credentials that were sent with a marker. */
  credentials(marker: string): Promise<readonly string[]>;
}

/** @throws ConfigError from each function, when the control interface does not respond or rejects the request. */
export function upstreamControl(
  { controlUrl, token }: UpstreamTarget,
  { source }: Pick<Target, "source">,
): UpstreamControl {
  const failure = (what: string, cause?: unknown) =>
    new ConfigError([{ file: source, path: "upstream.controlUrl", message: `${what}.` }], {
      hint: "`gauntlet upstream` prints its control address and token when it is ready; it has to run for as long as the checks do.",
      cause,
    });
  const control = { url: controlUrl.replace(/\/+$/, ""), token, failure };
  return {
    async setResponses(marker, script) {
      await callControl(control, "PUT", `/responses/${marker}`, script);
    },
    async requests(marker) {
      return (await callControl(control, "GET", `/requests?marker=${marker}`)) as unknown as SeenUpstream;
    },
    async credentials(marker) {
      const { credentials } = await callControl(control, "GET", `/credentials/${marker}`);
      return Array.isArray(credentials) ? credentials.map(String) : [];
    },
  };
}

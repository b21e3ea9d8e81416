import type { Dialect } from "../../dialects/index.ts";
import {
  allKeys,
  type ScriptInput,
  type UpstreamControl,
  type UpstreamRequest,
  upstreamControl,
} from "../../target/index.ts";
import { MissingFixture } from "../declare/need.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import type { Traffic } from "./traffic.ts";

/** A request as a provider saw it; our keys in it are masked. */
export type MaskedUpstreamRequest = Pick<
  UpstreamRequest,
  | "id"
  | "provider"
  | "connection"
  | "receivedMs"
  | "path"
  | "headers"
  | "body"
  | "bodyBytes"
  | "status"
  | "headMs"
  | "endMs"
  | "end"
  | "sentEvents"
>;

/** What the providers received for one of our requests. */
export type UpstreamTraffic = {
  /** The upstream's clock at the time of reading, ms; the base of all its timestamps. */
  readonly nowMs: number;
  readonly requests: readonly MaskedUpstreamRequest[];
  /** Places in them, other than their credentials, that held one of our keys. */
  readonly ourKeys: number;
};

/** Interval between two polls of the upstream, ms. */
const POLL_INTERVAL_MS = 25;

/** The providers behind the gateway: sets their responses to our requests, and shows what the gateway sent them. */
export class UpstreamProbe {
  readonly #traffic: Traffic;
  readonly #control: UpstreamControl;

  /** @throws MissingFixture if the target has no such providers. */
  constructor(traffic: Traffic, dialect: Dialect) {
    const { upstream } = traffic.target;
    if (upstream === undefined) throw new MissingFixture("upstream", dialect);
    this.#traffic = traffic;
    this.#control = upstreamControl(upstream, traffic.target);
  }

  /** A text by which the providers recognize our request; it must be in the prompt. */
  marker(): string {
    return `gauntlet-marker-${this.#traffic.nonce()}`;
  }

  /** A request for a model of these providers, with a marker in its prompt. */
  marked(marker: string, dialect: Dialect, request: RequestSpec = {}): RequestSpec {
    const id = this.#traffic.target.upstream?.models[dialect];
    return {
      endpoint: dialect,
      prompt: `${marker}: please repeat.`,
      ...(id === undefined ? {} : { model: { id } }),
      ...request,
    };
  }

  /** Sets the providers' responses to the requests with a marker: by the provider's name, `*` for any other. */
  setResponses(marker: string, script: ScriptInput): Promise<void> {
    return this.#control.setResponses(marker, script);
  }

  async requests(marker: string): Promise<UpstreamTraffic> {
    const { nowMs, requests } = await this.#control.requests(marker);
    const { redactor } = this.#traffic.recorder;
    const { found } = redactor.redact(JSON.stringify(requests));
    const ourKeys = found.filter(({ secret, whole }) => whole && secret.startsWith("key.")).length;
    return { nowMs, requests: redactor.redactValue(requests.map(seen)), ourKeys };
  }

  /** Polls until the received requests meet the condition, or the time is up. */
  async until(
    marker: string,
    holds: (requests: readonly MaskedUpstreamRequest[]) => boolean,
    longestMs: number,
  ): Promise<UpstreamTraffic> {
    const startedMs = performance.now();
    for (;;) {
      const seenNow = await this.requests(marker);
      if (holds(seenNow.requests) || performance.now() - startedMs > longestMs) return seenNow;
      await this.#traffic.wait(POLL_INTERVAL_MS, { what: "a provider", by: undefined });
    }
  }

  /** Whether our credentials arrived with a marker; any others belong to the operator and are masked from now on. */
  async credentials(marker: string): Promise<{ readonly ours: number; readonly others: number }> {
    const own = allKeys(this.#traffic.target).map((key) => key.reveal());
    const received = await this.#control.credentials(marker);
    const others = received.filter((credential) => !own.includes(credential));
    for (const value of others) this.#traffic.recorder.redactor.add({ name: "upstream", value });
    return { ours: received.length - others.length, others: others.length };
  }
}

function seen(request: UpstreamRequest): MaskedUpstreamRequest {
  const { id, provider, connection, receivedMs, path, headers, body, bodyBytes } = request;
  const { status, headMs, endMs, end, sentEvents } = request;
  return {
    ...{ id, provider, connection, receivedMs, path, headers, body, bodyBytes },
    ...{ status, headMs, endMs, end, sentEvents },
  };
}

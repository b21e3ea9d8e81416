import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { messageOf } from "../../core/index.ts";

/** Larger responses are not read: one minute of them would be half a gigabyte. */
const MAX_BYTES = 8 * 2 ** 20;
const MIB = 2 ** 20;

export interface ScrapedEndpoint {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** Reads one endpoint repeatedly over a dedicated connection. */
export class Scraper implements Disposable {
  readonly #endpoint: ScrapedEndpoint;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(endpoint: ScrapedEndpoint) {
    this.#endpoint = endpoint;
    const options = { keepAlive: true, maxSockets: 1 };
    this.#agent = endpoint.url.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** @throws Error with a short reason in our own words; it never quotes the response. */
  async text(): Promise<string> {
    const { timeoutMs } = this.#endpoint;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#get(signal);
      const { statusCode = 0 } = response;
      if (statusCode !== 200) {
        response.destroy();
        throw new Error(
          statusCode >= 300 && statusCode < 400
            ? `responded with ${statusCode}: redirects are not followed`
            : `responded with ${statusCode}`,
        );
      }
      // A web page may contain a line that looks like a sample.
      if (/\bhtml\b/i.test(response.headers["content-type"] ?? "")) {
        response.destroy();
        throw new Error("the response is a web page, not Prometheus text");
      }
      return await bodyOf(response);
    } catch (error) {
      if (signal.aborted) throw new Error(`did not respond within ${timeoutMs / 1_000} s`, { cause: error });
      throw new Error(codeOf(error) ?? messageOf(error), { cause: error });
    }
  }

  #get(signal: AbortSignal): Promise<IncomingMessage> {
    const { url, key } = this.#endpoint;
    const headers = {
      // Uncompressed plain text: compression would cost the target CPU time.
      accept: "text/plain;version=0.0.4",
      "accept-encoding": "identity",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(url, { agent: this.#agent, headers, signal }, resolve);
      request.on("error", reject);
      request.end();
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new Error(`the response exceeds ${MAX_BYTES / MIB} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** A socket error's message contains addresses, several of them for a name with several. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code !== "" ? code : undefined;
}

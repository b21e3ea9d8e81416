import { endpointUrl } from "../../../dialects/index.ts";
import type { PreparedRequest } from "../../../http/load-client/index.ts";
import type { RequestKind } from "../../../limits/index.ts";
import type { Key, Target } from "../../../target/index.ts";
import { modelFor, prepareRequest } from "../../send/prepared-requests.ts";

/** The account under analysis, and other keys for comparison. */
export interface AnalysisAccount {
  readonly target: Target;
  readonly key: Key;
  /** Another key of the same account. */
  readonly second: Key | undefined;
  /** A key of an unrelated account. */
  readonly other: Key | undefined;
}

/** Short, because the limiter is measured, not the model. */
const SHORT = { prompt: "Hi", maxTokens: 4 } as const;

/** One request of each kind that the target supports: the main one, and variants with one change each. */
export function requestsOf({ target, key, second, other }: AnalysisAccount): ReadonlyMap<RequestKind, PreparedRequest> {
  const [dialect = "chat", otherDialect] = target.dialects;
  const own = target.models[dialect];
  const model = modelFor(target, dialect, false);
  const main = { dialect, stream: false, model, key, ...SHORT } as const;
  const prepared = new Map<RequestKind, PreparedRequest>([["main", prepareRequest(target, main)]]);
  if (second !== undefined) prepared.set("key", prepareRequest(target, { ...main, key: second }));
  // A different model in the other dialect would change two things at once.
  if (otherDialect !== undefined && target.models[otherDialect].plain === model)
    prepared.set("dialect", prepareRequest(target, { ...main, dialect: otherDialect }));
  const another = [own.stream, own.echo, own.tools].find((id) => id !== undefined && id !== model);
  if (another !== undefined) prepared.set("model", prepareRequest(target, { ...main, model: another, maxTokens: 1 }));
  if (other !== undefined) prepared.set("account", prepareRequest(target, { ...main, key: other }));
  prepared.set("listing", listingRequest(target, key));
  return prepared;
}

/** Long streams that stay in flight, starting with the target's own one. */
export function longRequests({ target, key }: AnalysisAccount): readonly PreparedRequest[] {
  const [dialect = "chat"] = target.dialects;
  const { stream, slow } = target.models[dialect];
  const ids = [...new Set([stream, slow])].filter((id) => id !== undefined);
  const prompt = "Tell me a long story.";
  const plain = modelFor(target, dialect, true);
  return (ids.length === 0 ? [plain] : ids).map((model) =>
    prepareRequest(target, { dialect, stream: true, model, prompt, maxTokens: 4_096, key }),
  );
}

function listingRequest(target: Target, key: Key): PreparedRequest {
  const url = new URL(endpointUrl(target.baseUrl, "models"));
  const headers: readonly (readonly [string, string])[] = [
    ["Host", url.host],
    ["Authorization", `Bearer ${key.reveal()}`],
    ["User-Agent", "gateway-gauntlet"],
    ...target.extraHeaders.all,
    ...target.extraHeaders.models,
  ];
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const bytes = Buffer.from(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`, "utf8");
  return { url: url.href, dialect: "chat", stream: false, bytes, key: key.name, capture: false, isListing: true };
}

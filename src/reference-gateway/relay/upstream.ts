import { Agent, request } from "undici";
import { isObject, member, messageOf, UsageError } from "../../core/index.ts";

/** A provider that the gateway calls over HTTP. */
export interface UpstreamProvider {
  /** Base URL without the dialects' paths. */
  readonly baseUrl: string;
  /** Bearer key of the operator; absent if the provider needs none. */
  readonly key: string | undefined;
}

/** Providers in the order in which they are called, and the connections to them. */
export interface Upstream extends AsyncDisposable {
  readonly providers: readonly UpstreamProvider[];
  /** Ids of the models that the first provider lists. */
  readonly models: readonly string[];
  readonly agent: Agent;
}

const LIST_MS = 30_000;
/** How long idle connections are kept. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Requests the models of the first provider.
 *
 * @param timeoutMs timeout of a silent provider.
 * @throws UsageError when it does not list any.
 */
export async function connectUpstream(providers: readonly UpstreamProvider[], timeoutMs: number): Promise<Upstream> {
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
    keepAliveTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
  });
  const [first] = providers as readonly [UpstreamProvider, ...UpstreamProvider[]];
  try {
    const models = await modelsOf(first, agent);
    return { providers, models, agent, [Symbol.asyncDispose]: () => agent.destroy() };
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

async function modelsOf(provider: UpstreamProvider, agent: Agent): Promise<string[]> {
  const hint = "Its address must end where the paths of the dialects begin, for example in /v1.";
  let list: unknown;
  try {
    const { statusCode, body } = await request(`${provider.baseUrl}/models`, {
      dispatcher: agent,
      headers: authorization(provider),
      signal: AbortSignal.timeout(LIST_MS),
    });
    list = statusCode === 200 ? await body.json() : await body.dump().then(() => statusCode);
  } catch (error) {
    throw new UsageError(`upstream: ${provider.baseUrl} does not list its models: ${messageOf(error)}`, { hint });
  }
  const data = member(list, "data");
  const ids = Array.isArray(data) ? data.filter(isObject).map(({ id }) => id) : [];
  const models = ids.filter((id): id is string => typeof id === "string" && id !== "");
  if (models.length > 0) return models;
  const what = typeof list === "number" ? `${list}` : "no models";
  throw new UsageError(`upstream: ${provider.baseUrl} does not list its models: ${what}`, { hint });
}

export function authorization({ key }: UpstreamProvider): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

import { randomBytes } from "node:crypto";
import { type Gateway, type GatewayOptions, startGateway } from "../../reference-gateway/index.ts";
import { scenarioSchema, startUpstream } from "../../upstream/index.ts";

/** Names of the providers, in the order in which the gateway tries them. */
const PROVIDERS = ["primary", "secondary"] as const;
/** Maximum number of provider requests per client request; the gateway itself tries each provider once. */
const ATTEMPTS = 3;

/**
 * Starts the reference gateway with two providers of `gauntlet upstream` in addition to its simulated models. Their model is
 * the provider's `upstream-model`; the ready line says where they are controlled.
 *
 * @throws UsageError when an option is invalid, or the port is taken.
 */
export async function startGatewayInFront(options: GatewayOptions = {}): Promise<Gateway> {
  const scenario = scenarioSchema.parse({ providers: Object.fromEntries(PROVIDERS.map((name) => [name, {}])) });
  const upstream = await startUpstream({ host: "127.0.0.1", port: 0, controlPort: 0, scenario });
  const { providers, controlUrl, controlToken } = upstream.ready;
  const key = () => `sk-provider-${randomBytes(18).toString("base64url")}`;
  const close = () => upstream[Symbol.asyncDispose]();
  try {
    const gateway = await startGateway({
      ...options,
      upstream: PROVIDERS.map((name) => ({ baseUrl: providers[name] ?? "", key: key() })),
      simulatedToo: true,
    });
    const behind = { controlUrl, controlToken, model: "upstream-model", attempts: ATTEMPTS, failover: PROVIDERS };
    const ending = (end: () => PromiseLike<void>) => async () => {
      await end();
      await close();
    };
    return {
      ready: { ...gateway.ready, upstream: behind },
      drain: ending(() => gateway.drain()),
      destroy: ending(() => gateway.destroy()),
      [Symbol.asyncDispose]: ending(() => gateway[Symbol.asyncDispose]()),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

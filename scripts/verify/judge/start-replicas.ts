import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gateway, type GatewayOptions, startGateway } from "../../../src/reference-gateway/index.ts";

/** Starts gateways in this process that share their state through one file, as separate processes would. */
export async function startReplicasHere(options: GatewayOptions, count: number): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-replicas-"));
  const gateways: Gateway[] = [];
  const ending = (end: (gateway: Gateway) => PromiseLike<void>) => async () => {
    for (const gateway of gateways) await end(gateway);
    rmSync(folder, { recursive: true, force: true });
  };
  const destroy = ending((gateway) => gateway.destroy());
  try {
    for (let index = 0; index < count; index++)
      gateways.push(await startGateway({ ...options, shared: join(folder, "shared.db") }));
  } catch (error) {
    await destroy();
    throw error;
  }
  const [first] = gateways;
  if (first === undefined) throw new Error("no replica was started");
  return {
    ready: { ...first.ready, addresses: gateways.map(({ ready }) => ready.baseUrl) },
    drain: ending((gateway) => gateway.drain()),
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

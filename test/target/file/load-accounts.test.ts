import { expect, test } from "vitest";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { allKeys, describeEmbedded, type ReadyLine, TIER_LIMITS } from "../../../src/target/index.ts";

test("the embedded gateway makes accounts of the tiers for load, each with two keys that nothing else uses", async () => {
  await using gateway = await startGateway({});
  const { target, provisioner } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const made = [await provisioner.loadAccounts?.(), await provisioner.loadAccounts?.()];
  const known = allKeys(target).map((key) => key.reveal());
  const texts: string[] = [];
  for (const accounts of made) {
    expect(Object.keys(accounts ?? {})).toEqual(Object.keys(TIER_LIMITS));
    for (const [tier, { key, second, limits }] of Object.entries(accounts ?? {})) {
      expect(limits).toEqual(TIER_LIMITS[tier as keyof typeof TIER_LIMITS]);
      for (const one of [key, second]) {
        const text = one?.reveal() ?? "";
        const response = await fetch(`${target.baseUrl}/models`, { headers: { authorization: `Bearer ${text}` } });
        expect(response.status).toBe(200);
        texts.push(text);
      }
    }
  }
  expect(new Set([...known, ...texts]).size).toBe(known.length + texts.length);
});

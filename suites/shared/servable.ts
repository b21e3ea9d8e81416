import type { Ask, Probe } from "../../src/checks/index.ts";

/** Those of some requests whose model the target has in the dialect of the request. */
export async function servable(t: Probe, asks: readonly Ask[]): Promise<Ask[]> {
  const kept: Ask[] = [];
  for (const ask of asks) {
    const { model = "plain", endpoint = t.dialect } = ask;
    if (endpoint === "models" || typeof model === "object" || (await t.hasModel(model, endpoint))) kept.push(ask);
  }
  return kept;
}

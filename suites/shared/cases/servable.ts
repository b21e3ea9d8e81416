import type { RequestSpec, Session } from "../../../src/checks/index.ts";

/** The requests whose model the target has in the dialect of the request. */
export async function servable(t: Session, specs: readonly RequestSpec[]): Promise<RequestSpec[]> {
  const served: RequestSpec[] = [];
  for (const request of specs) {
    const { model = "plain", endpoint = t.dialect } = request;
    if (endpoint === "models" || typeof model === "object" || (await t.hasModel(model, endpoint))) served.push(request);
  }
  return served;
}

import type { Call } from "../pipeline/behaviour.ts";

/** The models, each with the fields that clients of either dialect read. */
export function listModels({ services }: Call): unknown {
  const data = [...services.models.keys()].map((id) => ({
    id,
    object: "model",
    created: services.startedS,
    owned_by: "reference",
    type: "model",
    display_name: id,
  }));
  return { object: "list", data };
}

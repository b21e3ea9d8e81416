import type { Axes, DialectOfCheck, Session } from "../../src/checks/index.ts";
import type { Endpoint } from "../../src/dialects/index.ts";

export const ENDPOINTS = ["models", "chat", "messages"] as const;

/** The endpoint of an instance whose case names one. */
export const endpointOf = (t: Session): Endpoint => ENDPOINTS.find((name) => name === t.case) ?? "chat";

/** The dialect of an instance whose case names an endpoint: the model list belongs to neither. */
export const dialectOfEndpoint = ({ case: endpoint }: Axes): DialectOfCheck =>
  endpoint === "chat" || endpoint === "messages" ? endpoint : "any";

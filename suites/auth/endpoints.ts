import type { Session } from "../../src/checks/index.ts";
import type { Endpoint } from "../../src/dialects/index.ts";

export const ENDPOINTS = ["models", "chat", "messages"] as const;

/** The endpoint of an instance whose case names one. */
export const endpointOf = (t: Session): Endpoint => ENDPOINTS.find((name) => name === t.case) ?? "chat";

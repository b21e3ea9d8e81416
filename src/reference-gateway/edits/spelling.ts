import type { Scope } from "./limit-scopes.ts";

/** The spelling of `Authorization` without the key: the scheme and the spaces after it. */
export const byScheme: Scope = ({ arrival }) => (arrival.headers.authorization ?? "").replace(/\S+$/, "");

/** The value of the vendor's key header. */
export const byVendorKey: Scope = ({ arrival }) => String(arrival.headers["x-api-key"] ?? "");

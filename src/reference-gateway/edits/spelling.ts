import type { Scope } from "./limit-scopes.ts";

/** How the key is written in `Authorization`, without the key: the scheme and the spaces behind it. */
export const byScheme: Scope = ({ arrival }) => (arrival.headers.authorization ?? "").replace(/\S+$/, "");

/** What the vendor's key header says. */
export const byVendorKey: Scope = ({ arrival }) => String(arrival.headers["x-api-key"] ?? "");

// Every file of variants: what they export is collected by `variant-table.ts`.
export * from "./access/access.ts";
export * from "./access/limit.ts";
export * from "./access/models.ts";
export * from "./access/token-limit.ts";
export * from "./errors/error.ts";
export * from "./errors/wording.ts";
export * from "./protocol/http.ts";
export * from "./protocol/json.ts";
export * from "./protocol/transfer.ts";
export * from "./providers/latency.ts";
export * from "./providers/provider.ts";
export * from "./replies/capability.ts";
export * from "./replies/chat.ts";
export * from "./replies/messages.ts";
export * from "./replies/reply-cache.ts";
export * from "./streams/chunk.ts";
export * from "./streams/stream.ts";

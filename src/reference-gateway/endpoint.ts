/** The resource that a path addresses. */
export type Endpoint = "chat" | "messages" | "models" | "other";

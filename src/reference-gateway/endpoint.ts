/** What a path asks for. */
export type Endpoint = "chat" | "messages" | "models" | "other";

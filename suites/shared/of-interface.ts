import type { Response } from "../../src/checks/index.ts";

const LIST = /\/models$/;
const INFERENCE = /\/(chat\/completions|messages)$/;

/** Whether a request had a path and method of the interface; what others are answered is the gateway's own affair (BASE-5). */
export function isOfInterface({ exchange: { request } }: Response): boolean {
  return (request.method === "POST" ? INFERENCE : LIST).test(new URL(request.url).pathname);
}

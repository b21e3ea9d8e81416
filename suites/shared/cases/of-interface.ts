import type { Response } from "../../../src/checks/index.ts";

const LIST = /\/models$/;
const INFERENCE = /\/(chat\/completions|messages)$/;

/** Whether a request used a path and method of the interface; the gateway may respond to others as it likes (BASE-5). */
export function isOfInterface({ exchange: { request } }: Response): boolean {
  return (request.method === "POST" ? INFERENCE : LIST).test(new URL(request.url).pathname);
}

import type { Response } from "../../../src/checks/index.ts";
import { type CalledTool, StreamedCalls } from "../../../src/dialects/index.ts";

/** The tool calls of a reply, in order; those of a stream are joined from their fragments. */
export function calledTools(response: Response): readonly CalledTool[] {
  if (!response.streamed) return response.reply.toolCalls;
  const streamed = new StreamedCalls();
  for (const { json } of response.stream.events) streamed.add(json);
  return streamed.calls;
}

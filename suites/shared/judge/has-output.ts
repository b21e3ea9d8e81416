import type { Response } from "../../../src/checks/index.ts";
import { filledString } from "../../../src/judging/index.ts";

/** Whether a reply has any output: text, and in a stream also reasoning or a tool call. A 2xx alone says nothing about it. */
export const hasOutput = ({ stream, reply }: Response): boolean => stream.outputs > 0 || filledString.test(reply.text);

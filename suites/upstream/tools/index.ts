import type { Check } from "../../../src/checks/index.ts";
import { STRUCTURED_OUTPUT } from "./structured-output.ts";
import { TOOL_CALLS } from "./tool-calls.ts";
import { TOOL_DEFINITIONS } from "./tool-definitions.ts";
import { TOOL_RESULTS } from "./tool-results.ts";

/** Whether tools, tool calls, tool results and structured outputs pass through unchanged. */
export const TOOLS: readonly Check[] = [...TOOL_DEFINITIONS, ...TOOL_CALLS, ...TOOL_RESULTS, ...STRUCTURED_OUTPUT];

export { CapturedPiece } from "./body/captured-piece.ts";
export type { EventScanner } from "./body/event-scanner.ts";
export { type OfferedTools, TOOL_CALL_KINDS, type ToolCallCounts, type ToolCallKind } from "./body/tool-call-check.ts";
export { headPattern } from "./head-fields.ts";
export { InFlightGauge } from "./in-flight-gauge.ts";
export { LoadExchange, nowUs, type PreparedRequest, type TraceIds, UNREAD } from "./load-exchange.ts";
export type { RequestSender } from "./request-sender.ts";
export { Sender } from "./sender.ts";
export { SpreadSender } from "./spread-sender.ts";

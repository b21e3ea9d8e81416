export { classify, type Facts, type Outcome, type Retry } from "./classify.ts";
export {
  AMPLE_TOKENS,
  DIALECTS,
  type Dialect,
  type Endpoint,
  endpointUrl,
  MODES,
  type Mode,
  type ReplyRequest,
  requestBody,
  type Turn,
} from "./dialect.ts";
export { decodeEventStream, EventStreamDecoder, type StreamItem } from "./event-stream.ts";
export { type HeaderList, header, headerValues, mediaType, requestId } from "./headers.ts";
export { parseJson } from "./json-values.ts";
export { type ErrorReading, readError } from "./read-error.ts";
export { countsOf, type ReplyReading, readReply, type ToolCall } from "./read-reply.ts";
export {
  type Framing,
  isEndMarker,
  readStream,
  type StreamEvent,
  type StreamPiece,
  type StreamReading,
} from "./read-stream.ts";
export { httpDateMs, type RetryAfterForm, readRetryAfter, retryAfterMs } from "./retry-after.ts";

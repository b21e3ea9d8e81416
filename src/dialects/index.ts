export { type Classification, classify, isLimitReason, type Retry } from "./classify.ts";
export { type DenialMessage, type DenialWords, findDenial, textsOf } from "./denial-reading.ts";
export {
  DIALECTS,
  type Dialect,
  type Endpoint,
  endpointUrl,
  MODES,
  type Mode,
  requestBody,
  type Turn,
} from "./dialect.ts";
export { decodeEventStream, EventStreamDecoder, type StreamItem } from "./event-stream.ts";
export { type HeaderList, header, headerValues, mediaType, requestId } from "./headers.ts";
export { imagePart } from "./image-part.ts";
export { hasTooManyValues, parseJson } from "./json-values.ts";
export { likeliestFirst, listEntries } from "./model-list.ts";
export { readRateLimit } from "./rate-limit-header.ts";
export { type ErrorReading, readError } from "./read-error.ts";
export { type CalledTool, chatCall, StreamedCalls } from "./reply/called-tools.ts";
export { countsOf, type ReplyReading, readReply } from "./reply/read-reply.ts";
export { readStream, type StreamEvent, type StreamReading } from "./reply/read-stream.ts";
export {
  checkReply,
  checkStream,
  defectOfUnstreamed,
  EMPTY_TEXT,
  isEndMarker,
  type ReplyDefect,
  StreamContent,
} from "./reply/reply-defect.ts";
export { eventsIn, JsonItems, readEvent } from "./reply/reply-items.ts";
export { outputOf } from "./reply/reply-output.ts";
export { gatewayTimeMs, readRetryAfter, retryAfterMs, retryAfterWaitMs } from "./retry-after.ts";
export { toolsOf } from "./tool-definitions.ts";

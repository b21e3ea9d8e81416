export { type Classification, classify, type Retry } from "./classify.ts";
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
export { parseJson } from "./json-values.ts";
export { listEntries } from "./model-list.ts";
export { outputOf } from "./output-text.ts";
export { type ErrorReading, readError } from "./read-error.ts";
export { type ReplyReading, readReply } from "./read-reply.ts";
export {
  isEndMarker,
  readStream,
  type StreamEvent,
  type StreamReading,
} from "./read-stream.ts";
export { httpDateMs, readRetryAfter, retryAfterMs, retryAfterWaitMs } from "./retry-after.ts";

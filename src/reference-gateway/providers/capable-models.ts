import { lastUserText } from "../pipeline/read/inference-request.ts";
import type { Provider } from "./plan.ts";
import { objectFor } from "./schema-value.ts";
import { TIMING, textPlan } from "./text-plan.ts";

/** Lists the images it was given, one line each, and repeats the last user message. */
export const imageReader: Provider = (request) => {
  const images = request.turns.flatMap(({ images: own }) => own);
  const lines = images.map(({ mediaType, bodyBytes }, index) =>
    mediaType === undefined
      ? `image ${index + 1}: by its address`
      : `image ${index + 1}: ${mediaType}, ${bodyBytes} bytes`,
  );
  return textPlan(request, [...lines, lastUserText(request)].join("\n"), TIMING);
};

/** Replies with JSON of the requested schema; without one it repeats the last user message. */
export const jsonWriter: Provider = (request) => {
  const prompt = lastUserText(request);
  const { format } = request;
  return textPlan(request, format === undefined ? prompt : JSON.stringify(objectFor(format.schema, prompt)), TIMING);
};

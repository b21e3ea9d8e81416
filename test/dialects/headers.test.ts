import { expect, test } from "vitest";
import { type HeaderList, header, headerValues, mediaType, requestId } from "../../src/dialects/index.ts";

const HEADERS: HeaderList = [
  ["Content-Type", " Text/Event-Stream ; charset=utf-8"],
  ["Retry-After", "1"],
  ["X-Other", "x"],
  ["retry-after", "2"],
];

test("names are matched without regard to letter case, repeated fields are one list (RFC 9110, 5.1 and 5.3)", () => {
  expect(headerValues(HEADERS, "RETRY-AFTER")).toEqual(["1", "2"]);
  expect(header(HEADERS, "Retry-After")).toBe("1, 2");
  expect(header(HEADERS, "x-other")).toBe("x");
  expect(header(HEADERS, "retry")).toBeUndefined();
  expect(headerValues(HEADERS, "retry")).toEqual([]);
});

test("a media type is lower case and without parameters", () => {
  expect(mediaType(HEADERS)).toBe("text/event-stream");
  expect(mediaType([["content-type", "application/json"]])).toBe("application/json");
  expect(mediaType([])).toBe("");
});

test.each<[HeaderList, string | undefined]>([
  [[["X-Request-Id", "a"]], "a"],
  [[["request-id", "b"]], "b"],
  [[["X-Amzn-RequestId", "c"]], "c"],
  [[["CF-Ray", "d"]], "d"],
  [[["x-trace-id", "e"]], "e"],
  [[["x-correlation-id", "f"]], "f"],
  [[["x-litellm-request-id", "g"]], "g"],
  [[["apim-requestid", "h"]], "h"],
  [
    [
      ["cf-ray", "second"],
      ["x-request-id", "first"],
    ],
    "first",
  ],
  [
    [
      ["x-request-id", ""],
      ["cf-ray", "filled"],
    ],
    "filled",
  ],
  [[["x-request-id-note", "no"]], undefined],
  [[["x-other", "no"]], undefined],
])("a request's id is found where gateways put it: %j", (headers, id) => {
  expect(requestId(headers)).toBe(id);
});

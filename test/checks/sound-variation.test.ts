import { expect, test } from "vitest";
import { muchShorter } from "../../suites/limits/concurrency/limit.ts";
import { judged, seen } from "../support/seen-response.ts";

test("a stream counts as cut if all others have one length, not if a model's replies vary", () => {
  const streams = (endpoint: "chat" | "messages", lengths: readonly number[]) =>
    lengths.map((length) => seen({ sentMs: 0, endMs: 5, endpoint, text: "x".repeat(length) }));
  const cut = (chat: readonly number[], messages: readonly number[] = []) =>
    muchShorter([...streams("chat", chat), ...streams("messages", messages)]).map(({ bytes }) => bytes.length);
  expect(cut([1_000, 1_000, 1_030, 400])).toEqual([400]);
  expect(cut([1_000, 1_000, 400])).toEqual([400]);
  expect(cut([1_000, 1_300, 800, 400])).toEqual([]);
  // The other dialect may show which of the two is the usual length.
  expect(cut([1_000, 400])).toEqual([]);
  expect(cut([1_000, 400], [2_000, 2_050])).toEqual([400]);
  expect(cut([1_000, 400], [2_000, 1_500])).toEqual([]);
});

test("a daily cap is not expected to hold if a UTC day may have begun since it was reached", () => {
  const noon = Date.UTC(2026, 10, 25, 12);
  const statusAt = (startedAtMs: number) => {
    const response = seen({ sentMs: 0, endMs: 5, startedAtMs });
    return judged("spending.still-denied", { late: [{ key: "capped", status: 402, response }] }).status;
  };
  expect(statusAt(noon)).toBe("fail");
  const minutes = (count: number) => noon + (12 * 60 + count) * 60_000;
  expect([minutes(-15), minutes(-5), minutes(5), minutes(55), minutes(65)].map(statusAt)).toEqual([
    "fail",
    "not-applicable",
    "not-applicable",
    "not-applicable",
    "fail",
  ]);
});

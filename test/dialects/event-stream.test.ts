import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEventStream, EventStreamDecoder, type StreamItem } from "../../src/dialects/index.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const events = (items: StreamItem[]) =>
  items.flatMap((item) => (item.kind === "event" ? [[item.name, item.data]] : []));

/** Streams of real servers, each with the events it contains. */
const STREAMS: [what: string, text: string, expected: (string | undefined)[][]][] = [
  [
    "LF",
    "data: a\n\ndata: b\n\n",
    [
      [undefined, "a"],
      [undefined, "b"],
    ],
  ],
  [
    "CRLF",
    "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
    [
      ["x", "a"],
      [undefined, "b"],
    ],
  ],
  [
    "CR",
    "data: a\r\rdata: b\r\r",
    [
      [undefined, "a"],
      [undefined, "b"],
    ],
  ],
  [
    "mixed line ends",
    "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r\n",
    [
      [undefined, "a"],
      [undefined, "b"],
      [undefined, "c"],
    ],
  ],
  ["no space after the colon", "event:x\ndata:a\n\n", [["x", "a"]]],
  ["two spaces: one belongs to the data", "data:  a\n\n", [[undefined, " a"]]],
  ["comments between and inside events", ": ping\n\ndata: a\n: in\ndata: b\n\n:\n\n", [[undefined, "a\nb"]]],
  ["data over several lines", "data: a\ndata\ndata: b\n\n", [[undefined, "a\n\nb"]]],
  ["fields without meaning here", "id: 1\nretry: 5\ndata: a\nodd: x\n\n", [[undefined, "a"]]],
  [
    "a name without data",
    "event: ping\n\ndata: a\n\n",
    [
      ["ping", ""],
      [undefined, "a"],
    ],
  ],
  ["a byte order mark", "\uFEFFdata: a\n\n", [[undefined, "a"]]],
  ["characters of two, three and four bytes", "data: äß 漢字 🜲👩‍🚀\n\n", [[undefined, "äß 漢字 🜲👩‍🚀"]]],
  ["empty", "", []],
];

describe("the event-stream decoder (STREAM-7)", () => {
  test.each(STREAMS)("%s: the same events however the bytes are cut", (_what, text, expected) => {
    const body = bytes(text);
    const whole = decodeEventStream(body);
    expect(events(whole)).toEqual(expected);
    for (let cut = 0; cut <= body.length; cut++) {
      const decoder = new EventStreamDecoder();
      const items = [...decoder.feed(body.subarray(0, cut)), ...decoder.feed(body.subarray(cut)), ...decoder.end()];
      expect(items).toEqual(whole);
    }
    const bytewise = new EventStreamDecoder();
    expect([...[...body].flatMap((byte) => bytewise.feed(Uint8Array.of(byte))), ...bytewise.end()]).toEqual(whole);
  });

  test("any text in any number of pieces: nothing throws and the pieces do not matter", () => {
    const line = fc.oneof(
      fc.constantFrom("data: x", "event: e", ": c", "data", "", "\r", "id:1", "data:é🜲"),
      fc.string({ unit: "binary" }),
    );
    const text = fc.array(line).chain((lines) => fc.constantFrom("\n", "\r\n", "\r").map((end) => lines.join(end)));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 200 })), (stream, cuts) => {
        const body = bytes(stream);
        const decoder = new EventStreamDecoder();
        const places = [0, ...cuts.map((cut) => Math.min(cut, body.length)).toSorted((a, b) => a - b), body.length];
        const items = places.slice(1).flatMap((to, index) => decoder.feed(body.subarray(places[index], to)));
        expect([...items, ...decoder.end()]).toEqual(decodeEventStream(body));
      }),
    );
  });

  test("bytes after the last blank line are kept as unterminated", () => {
    expect(decodeEventStream(bytes("data: a\n\nevent: x\ndata: cu"))).toEqual([
      { kind: "event", name: undefined, data: "a", start: 0, end: 9 },
      { kind: "unterminated", name: "x", data: "cu", start: 9, end: 26 },
    ]);
  });

  test("a line beyond the bound costs the bound, and what follows is read", () => {
    const decoder = new EventStreamDecoder({ maxLineBytes: 64 });
    const items = Array.from({ length: 100 }, () => decoder.feed(bytes("x".repeat(50)))).flat();
    expect(items).toEqual([]);
    expect(decoder.feed(bytes("\n\ndata: a\n\n"))).toEqual([
      { kind: "oversized", bytes: 5_000, start: 0, end: 5_001 },
      { kind: "event", name: undefined, data: "a", start: 5_002, end: 5_011 },
    ]);
  });

  test("offsets point at the bytes of each event", () => {
    const body = bytes("data: ä\r\n\r\n: c\r\n\r\nevent: e\r\ndata: b\r\n\r\n");
    const texts = decodeEventStream(body).map(({ start, end }) => new TextDecoder().decode(body.subarray(start, end)));
    expect(texts.map((text) => text.trim())).toEqual(["data: ä", ": c", "event: e\r\ndata: b"]);
  });
});

import { constants } from "node:buffer";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readTrace } from "../../../src/load/workload/trace.ts";
import { csvRecordsOf, linesOf, textOf } from "../../../src/load/workload/trace-records.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";

function traceOf(text: string): ReturnType<typeof readTrace> {
  using folder = temporaryFolder();
  const file = join(folder.path, "t");
  writeFileSync(file, text);
  return readTrace(file);
}

describe("a CSV text (RFC 4180)", () => {
  const rows: readonly [what: string, text: string, records: readonly (readonly string[])[]][] = [
    [
      "plain fields",
      "a,b\r\n1, 2 \r\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    ["a comma in quotation marks", '"a, b",c\n', [["a, b", "c"]]],
    ["doubled quotation marks", '"say ""hi""",2\n', [['say "hi"', "2"]]],
    [
      "line breaks in quotation marks",
      '"one\r\ntwo\n\nthree",2\nx,y',
      [
        ["one\r\ntwo\n\nthree", "2"],
        ["x", "y"],
      ],
    ],
    ["blanks inside quotation marks", '" a ",b', [[" a ", "b"]]],
    ["empty fields", ',"",\n', [["", "", ""]]],
    ["blank lines between records", "a\n\n\nb\n", [["a"], ["b"]]],
    ["the last line without an end", 'a,"b"', [["a", "b"]]],
  ];

  test.each(rows)("%s", (_what, text, records) => {
    expect([...csvRecordsOf([text])].map(({ content }) => content)).toEqual(records);
  });

  test.each(rows)("%s, cut at every position", (_what, text, records) => {
    for (let at = 0; at <= text.length; at++) {
      const cut = [text.slice(0, at), text.slice(at)];
      expect([...csvRecordsOf(cut)].map(({ content }) => content)).toEqual(records);
    }
  });

  test("records have the line on which they begin", () => {
    expect([...csvRecordsOf(['a\n"b\nc"\nd'])].map(({ line }) => line)).toEqual([1, 2, 4]);
    expect([...linesOf(["a\n\nb\n"])].map(({ line }) => line)).toEqual([1, 3]);
  });
});

test("a file is read in chunks that do not split multi-byte characters", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "t");
  writeFileSync(file, "\uFEFFgrün\n😀\n");
  for (const chunkBytes of [1, 2, 3, 5, 64]) expect([...textOf(file, chunkBytes)].join("")).toBe("grün\n😀\n");
});

test("a BurstGPT trace with a comma and a line break in a field", () => {
  const head = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type";
  expect(traceOf(`${head}\n5,"Chat, the\nold one",472,18,490,"API ""log"""\n6.5,GPT-4,1,2,3,API log\n`)).toEqual([
    { offsetMs: 0, promptTokens: 472, maxTokens: 18 },
    { offsetMs: 1_500, promptTokens: 1, maxTokens: 2 },
  ]);
});

test("a Bailian trace counts in seconds, and its blocks have 16 tokens", () => {
  // As in the published trace qwen_traceA_blksz_16.jsonl.
  const line = (timestamp: number, more: object) =>
    JSON.stringify({ chat_id: 159, parent_chat_id: -1, timestamp, ...more, type: "text", turn: 1 });
  const text = [
    line(61.114, { input_length: 40, output_length: 132, hash_ids: [1089, 1090, 1091] }),
    line(62.614, { input_length: 20, output_length: 0, hash_ids: [1089, 7] }),
  ].join("\n");
  const [first, second, ...others] = traceOf(text);
  expect(others).toEqual([]);
  expect(first).toEqual({
    offsetMs: 0,
    promptTokens: 40,
    maxTokens: 132,
    hashIds: [1089, 1090, 1091],
    blockTokens: 16,
  });
  expect(second?.offsetMs).toBeCloseTo(1_500, 6);
  expect(() => traceOf(line(1, { input_length: 32, output_length: 1, hash_ids: [1, 2, 3] }))).toThrow(
    /blocks of 16 tokens/,
  );
});

test("a trace that is longer than the longest string is read", { timeout: 120_000 }, () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "large.csv");
  const out = openSync(file, "w");
  writeSync(out, "TIMESTAMP,ContextTokens,GeneratedTokens,Note\n");
  // A few records with a long note each make a large file.
  const note = "x".repeat(8 << 20);
  const count = Math.ceil(constants.MAX_STRING_LENGTH / note.length) + 1;
  for (let index = 0; index < count; index++)
    writeSync(out, `2023-11-16 18:17:${String(index % 60).padStart(2, "0")}.0000000,10,${index + 1},"${note}"\n`);
  closeSync(out);
  expect(readTrace(file)).toHaveLength(count);
});

// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { denialWords, readAs, specReason } from "../../src/judging/index.ts";
import { reasonReader } from "../../src/load/send/read-reason.ts";
import { findDenial } from "../../suites/k6/denial-reading.ts";
import { targetOf } from "../support/judge.ts";

const contractOf = (denials: string) =>
  targetOf("http://127.0.0.1:1/v1", `contract: { denials: ${denials} }\n`).contract;

/** According to three readers: the checks, the load engine, and the k6 scripts. */
function readersOf(contract: ReturnType<typeof contractOf>, status: number, body: string, code?: string) {
  const words = denialWords(contract) ?? [];
  const headers = { reason: "X-Why", action: "X-Do", version: "v", versionValue: "1" };
  const pieces = [{ bytes: Buffer.from(body) }];
  const exchange = { status, pieces, headerOf: () => code } as unknown as Parameters<
    ReturnType<typeof reasonReader>
  >[0];
  return [
    specReason(words, { status, reason: code, text: () => body }),
    reasonReader({ headers, contract })(exchange),
    findDenial(words, { status, code, body: () => body })?.reason ?? code,
  ];
}

const all = (reason: string | undefined) => [reason, reason, reason];

describe("denials that differ only in their text", () => {
  const contract = contractOf(`{
    invalid_api_key: { message: [unknown key, { pattern: "^no key in \\\\w+$" }] },
    rate_limit_exceeded: { message: { pattern: "^Limit of \\\\d+ requests per minute" } },
    concurrency_limit_exceeded: { status: 503, message: in parallel },
    quota_exceeded: { reason: spent, message: 'the "day" is over' } }`);

  test.each([
    [401, '{"error":{"message":"unknown key sk-…1"}}', undefined, "invalid_api_key"],
    [401, '{"detail":"no key in request"}', undefined, "invalid_api_key"],
    // The text or the status is another denial's, or the anchors do not match.
    [401, '{"detail":"blocked key"}', undefined, undefined],
    [403, '{"detail":"unknown key"}', undefined, undefined],
    [401, '{"detail":"there is no key in request"}', undefined, undefined],
    // Whatever its code: according to the contract the text decides.
    [429, '{"error":["Limit of 20 requests per minute reached"]}', "throttled", "rate_limit_exceeded"],
    [503, "too many in parallel", undefined, "concurrency_limit_exceeded"],
    // With a code in the contract, both must match. JSON escapes the quotation marks.
    [402, '{"detail":"the \\"day\\" is over"}', "spent", "quota_exceeded"],
    [402, '{"detail":"the \\"day\\" is over"}', undefined, undefined],
    [402, '{"detail":"another day"}', "spent", "spent"],
  ])("%i %s with the code %s is read as %s", (status, body, code, expected) => {
    expect(readersOf(contract, status, body, code)).toEqual(all(expected));
  });

  test("of two texts, the one that contains the other is tried first", () => {
    const nested = contractOf("{ invalid_api_key: { message: bad key }, key_revoked: { message: bad key (revoked) } }");
    expect(readersOf(nested, 401, "bad key (revoked)")).toEqual(all("key_revoked"));
    expect(readersOf(nested, 401, "bad key")).toEqual(all("invalid_api_key"));
    expect(readAs(nested, "key_revoked")).toBe("key_revoked");
  });

  test("two with the same text are read as the first of them", () => {
    const alike = contractOf("{ invalid_api_key: { message: bad key }, key_revoked: { message: bad key } }");
    expect(readAs(alike, "key_revoked")).toBe("invalid_api_key");
    expect(readersOf(alike, 401, "bad key")).toEqual(all("invalid_api_key"));
  });

  test("a body of megabytes and a deeply nested one are read quickly", () => {
    const slow = contractOf('{ invalid_api_key: { message: { pattern: "bad .*key .*here" } } }');
    const startedMs = performance.now();
    for (const body of ["bad key ".repeat(500_000), `${"[".repeat(60_000)}`, `"${"bad key ".repeat(8_000)}"`])
      expect(readersOf(slow, 401, body)).toEqual(all(undefined));
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});

describe("a contract's message must not be empty", () => {
  test.each([
    ["'{}'", /word of three letters/],
    ['{ pattern: ".*" }', /fixed word of three letters/],
    ['{ pattern: "(limit)?[a-z]+" }', /fixed word of three letters/],
    ['{ pattern: "limit|\\\\d+" }', /fixed word of three letters/],
    ['{ pattern: "(limit|\\\\d+) x" }', /fixed word of three letters/],
    ['{ pattern: "limit (\\\\w+ )+x" }', /repetition inside a repetition/],
    ['{ pattern: "limit (" }', /not a valid regular expression/],
    ["[]", /./],
  ])("%s is refused", (message, problem) => {
    expect(() => contractOf(`{ key_revoked: { message: ${message} } }`)).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ message: expect.stringMatching(problem) })] }),
    );
  });

  test.each(['"期限切れ"', '{ pattern: "^Key (\\\\S+) was (revoked|blocked)" }', '{ pattern: "revoked|blocked" }'])(
    "%s is taken",
    (message) => {
      expect(contractOf(`{ key_revoked: { message: ${message} } }`).denials?.key_revoked?.message).toEqual(
        parse(message),
      );
    },
  );
});

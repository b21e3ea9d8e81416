// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { requestObjective } from "../../../src/load/measure/goodput.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { sentTo } from "../support/upstream-load.ts";

const OBJECTIVES = ["ttft_ms < 1500", "response_ms < 4000"];

describe.concurrent("goodput", () => {
  test("counts the requests and tokens that met every objective, as the server served them", async () => {
    const model = (behaviour: object) => ({ pieces: 5, usage: { output: 5 }, ...behaviour });
    const models = {
      quick: model({}),
      "late-token": model({ firstTokenMs: 2_000 }),
      plain: model({ usage: { output: 7 } }),
      "late-plain": model({ latencyMs: 4_500 }),
    };
    const { phase, bodies } = await sentTo(
      {
        arrivals: { kind: "constant", ratePerS: 40, durationS: 1 },
        mix: Object.keys(models).map((name) => ({ dialect: "chat", model: name, stream: !name.endsWith("plain") })),
        objectives: OBJECTIVES,
      },
      { scenario: { providers: { one: { models } } } },
    );
    const served = (name: string) => bodies.filter((body) => body.model === name).length;
    expect(
      Object.keys(models)
        .map(served)
        .every((count) => count > 0),
    ).toBe(true);
    const requests = served("quick") + served("plain");
    const tokens = served("quick") * 5 + served("plain") * 7;
    const durationS = phase?.durationS ?? Number.NaN;
    const [low, high] = phase?.goodput?.intervals.share ?? [];
    expect(low).toBeLessThan(requests / 40);
    expect(high).toBeGreaterThan(requests / 40);
    expect(phase?.goodput).toEqual({
      objectives: [
        { text: "ttft_ms < 1500", met: 40 - served("late-token") },
        { text: "response_ms < 4000", met: 40 - served("late-plain") },
      ],
      requests,
      requestsPerS: requests / durationS,
      share: requests / 40,
      tokens,
      tokensPerS: tokens / durationS,
      intervals: { requestsPerS: expect.toSatisfy((ends) => ends[0] <= requests / durationS), share: [low, high] },
    });
  });

  test("is absent where a workload names no objectives", async () => {
    const { phase } = await sentTo({ arrivals: { kind: "closed", inFlight: 1, requests: 1 } });
    expect(phase).toMatchObject({ admitted: 1 });
    expect(phase?.goodput).toBeUndefined();
  });
});

describe("goodput of one request", () => {
  const us = { dueUs: 1_000, sentUs: 2_000, firstTokenUs: 52_000, lastTokenUs: 152_000, endUs: 201_000 };
  const exchange = (stream: boolean, marks: object = {}) =>
    Object.assign(
      new LoadExchange(
        {
          url: "http://127.0.0.1:1/v1/chat/completions",
          dialect: "chat",
          stream,
          bytes: Buffer.alloc(0),
          key: "k",
          capture: false,
        },
        1_000,
        0,
      ),
      us,
      { longestGapUs: 90_000 },
      marks,
    );
  const counted = (objectives: readonly string[], one: LoadExchange, outcome: "admitted" | "denied" = "admitted") => {
    const tally = new Tally(0, { objectives: objectives.flatMap((text) => requestObjective(text) ?? []) });
    tally.offered(one.dueUs);
    tally.ended(one, outcome);
    return tally;
  };

  test.each<[string, boolean, object, boolean]>([
    ["response_ms < 200.1", true, {}, true],
    ["response_ms < 200", true, {}, false],
    ["service_ms < 199.5", true, {}, true],
    ["ttft_ms < 51", true, {}, true],
    ["ttft_ms < 50", true, {}, false],
    ["event_gap_ms < 90", true, {}, false],
    ["event_gap_ms < 91", true, {}, true],
    // Metrics of streams do not count against a reply that does not stream; a stream without a token has missed the objective.
    ["ttft_ms < 1", false, {}, true],
    ["event_gap_ms < 1", false, {}, true],
    ["ttft_ms < 5000", true, { firstTokenUs: 0 }, false],
  ])("%s, streaming %j, %j: %j", (text, stream, marks, met) =>
    expect(counted([text], exchange(stream, marks)).goodput(1)?.requests).toBe(met ? 1 : 0),
  );

  test("excludes denied requests, and has no tokens if a reply does not state them", () => {
    expect(counted(["response_ms < 9999"], exchange(true), "denied").goodput(1)).toMatchObject({
      requests: 0,
      tokens: 0,
    });
    expect(counted(["response_ms < 9999"], exchange(false)).goodput(1)).toMatchObject({ requests: 1, tokens: null });
  });

  test("of several threads adds up", () => {
    const both = counted(["ttft_ms < 51", "event_gap_ms < 91"], exchange(true));
    both.merge(
      counted(["ttft_ms < 51", "event_gap_ms < 91"], exchange(true, { longestGapUs: 95_000 })).store(),
      "shared",
    );
    expect(both.goodput(2)).toMatchObject({
      objectives: [
        { text: "ttft_ms < 51", met: 2 },
        { text: "event_gap_ms < 91", met: 1 },
      ],
      requests: 1,
      requestsPerS: 0.5,
      share: 0.5,
    });
  });
});

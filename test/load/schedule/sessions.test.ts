// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import type { ShardFile } from "../../../src/load/shards/shard-file.ts";
import { mergeShares } from "../../../src/load/shards/stored-share.ts";
import type { UpstreamRequest } from "../../../src/upstream/index.ts";
import { type SentBody, sentTo } from "../support/upstream-load.ts";

const REPLY = "a reply of some words that are part of the next turn";
const scenarioWith = (behaviour: object) => ({ providers: { one: { models: { "*": behaviour } } } });
const serving = scenarioWith({ text: REPLY, pieces: 4, latencyMs: 400 });

interface Seen {
  readonly request: UpstreamRequest;
  readonly body: SentBody;
}

/** Requests of each session in the order of their arrival. */
function sessionsIn(requests: readonly UpstreamRequest[], header = "x-session-id"): Map<string, Seen[]> {
  const all = new Map<string, Seen[]>();
  for (const request of requests) {
    const id = request.headers.find(([name]) => name.toLowerCase() === header)?.[1] ?? "";
    all.set(id, [...(all.get(id) ?? []), { request, body: JSON.parse(request.body) as SentBody }]);
  }
  return all;
}

const sessions = (fields: object) => ({
  kind: "sessions",
  ratePerS: 20,
  durationS: 0.5,
  turns: 3,
  thinkS: 0.2,
  ...fields,
});

describe.concurrent("sessions", () => {
  test.each([
    ["chat", true],
    ["messages", false],
  ])(
    "of %s, streaming %j: each turn has all turns before it, and waits for the reply and the think time",
    async (dialect, stream) => {
      const { requests, phase, run } = await sentTo(
        { arrivals: sessions({}), mix: [{ dialect, stream, promptTokens: { kind: "uniform", from: 5, to: 40 } }] },
        { scenario: serving },
      );
      const all = sessionsIn(requests);
      expect(all.size).toBe(10);
      for (const turns of all.values()) {
        expect(turns).toHaveLength(3);
        for (const [index, { request, body }] of turns.entries()) {
          const roles = Array.from({ length: index * 2 + 1 }, (_, at) => (at % 2 === 0 ? "user" : "assistant"));
          expect(body.messages.map(({ role }) => role)).toEqual(roles);
          const before = turns[index - 1];
          if (before === undefined) continue;
          expect(body.messages.slice(0, -2)).toEqual(before.body.messages);
          expect(body.messages.at(-2)?.content).toBe(REPLY);
          expect(request.receivedMs).toBeGreaterThan((before.request.endMs ?? Number.NaN) + 200 - 5);
        }
      }
      const texts = [...all.values()].flatMap((turns) => turns.map(({ body }) => body.messages.at(-1)?.content));
      expect(new Set(texts).size).toBe(30);
      expect(phase).toMatchObject({ sent: 30, admitted: 30, sessions: { started: 10, completed: 10 } });
      const { turns = [] } = phase?.sessions ?? {};
      expect(turns.map(({ turn, requests: count, admitted }) => [turn, count, admitted])).toEqual([
        [1, 10, 10],
        [2, 10, 10],
        [3, 10, 10],
      ]);
      for (const [index, { responseMs, ttftMs, meanRequestBytes }] of turns.entries()) {
        expect(responseMs?.p50).toBeGreaterThan(395);
        expect(ttftMs === null).toBe(!stream);
        expect(meanRequestBytes).toBeGreaterThan((turns[index - 1]?.meanRequestBytes ?? 0) + REPLY.length);
      }
      expect(run.tokenizer?.package).toBe("js-tiktoken");
    },
  );

  test("begin on schedule, whatever the replies do: only later turns wait", async () => {
    const latencyMs = 2_500;
    const { requests, phase } = await sentTo(
      { arrivals: sessions({ turns: 2, thinkS: 0 }) },
      { scenario: scenarioWith({ latencyMs }) },
    );
    const firsts = [...sessionsIn(requests).values()].map(([first]) => first?.request.receivedMs ?? Number.NaN);
    expect(firsts).toHaveLength(10);
    const begin = Math.min(...firsts);
    // A request arrives no earlier than it is due, and no later than its response time minus the gateway's latency allows.
    const slowestMs = Math.max(...(phase?.classes ?? []).map(({ responseMs }) => responseMs?.max ?? Number.NaN));
    for (const [index, at] of firsts.sort((a, b) => a - b).entries())
      expect(Math.abs(at - begin - index * 50)).toBeLessThan(5 + slowestMs - latencyMs);
  });

  test("the configured share has a common prefix of the configured length, the others separate ones", async () => {
    for (const dialect of ["chat", "messages"]) {
      const { requests } = await sentTo(
        {
          arrivals: sessions({
            ...{ ratePerS: 80, turns: 1, header: "x-conversation" },
            sharedPrefix: { share: 0.5, tokens: 70 },
          }),
          mix: [{ dialect }],
        },
        { scenario: scenarioWith({}) },
      );
      const bodies = [...sessionsIn(requests, "x-conversation").values()].map(([first]) => first?.body);
      expect(bodies).toHaveLength(40);
      const prefixes = bodies.map((body) =>
        dialect === "chat" ? body?.messages.find(({ role }) => role === "system")?.content : body?.system,
      );
      expect(prefixes.every((prefix) => typeof prefix === "string" && prefix.split(" ").length === 70)).toBe(true);
      const counts = new Map<unknown, number>();
      for (const prefix of prefixes) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
      const shared = Math.max(...counts.values());
      expect(shared).toBeGreaterThan(10);
      expect(shared).toBeLessThan(30);
      expect(counts.size).toBe(40 - shared + 1);
    }
  });

  test("of two shards are those of one process, and their turns and goodput add up", async () => {
    const workload = {
      arrivals: sessions({ turns: { kind: "uniform", from: 1, to: 4 }, thinkS: 0, ratePerS: 16 }),
      mix: [{ dialect: "chat", promptTokens: { kind: "uniform", from: 5, to: 40 } }],
      objectives: ["response_ms < 60000"],
    };
    const scenario = scenarioWith({ text: REPLY, pieces: 4 });
    const whole = await sentTo(workload, { scenario });
    const parts = await Promise.all([0, 1].map((index) => sentTo(workload, { scenario, part: { index, of: 2 } })));
    const sent = parts.flatMap(({ requests }) => requests.map(({ body }) => body));
    expect(sent.sort()).toEqual(whole.requests.map(({ body }) => body).sort());
    const files = parts.flatMap(({ shardFile }) => shardFile ?? []);
    const [{ workload: resolved }] = files as [ShardFile, ShardFile];
    const { tally, sessions: counted } = mergeShares(
      files.map(({ share }) => share),
      { workload: resolved, seed: 1, peaks: "separate" },
    );
    expect(counted).toEqual({ started: 8, completed: 8 });
    const countsOf = (turns: readonly { turn: number; requests: number; meanRequestBytes: number }[] = []) =>
      turns.map(({ turn, requests }) => [turn, requests]);
    expect(countsOf(tally.turns())).toEqual(countsOf(whole.phase?.sessions?.turns));
    const { requests, tokens } = tally.goodput(1) ?? {};
    expect({ requests, tokens }).toEqual({ requests: sent.length, tokens: whole.phase?.goodput?.tokens });
  });

  test("end with a turn that is not admitted", async () => {
    const { phase, requests } = await sentTo(
      { arrivals: sessions({ ratePerS: 2 }), allow: { failedShare: 1 } },
      { scenario: scenarioWith([{ text: REPLY }, { error: { status: 500 } }]) },
    );
    expect(requests.map(({ status }) => status)).toEqual([200, 500]);
    expect(phase?.sessions).toMatchObject({ started: 1, completed: 0 });
    expect(phase?.sessions?.turns).toMatchObject([
      { turn: 1, admitted: 1, failed: 0 },
      { turn: 2, admitted: 0, failed: 1 },
    ]);
  });

  test("end during their think time if the run is interrupted", async () => {
    const { phase, requests } = await sentTo(
      { arrivals: sessions({ thinkS: 600, turns: { kind: "uniform", from: 2, to: 3 } }) },
      {
        scenario: scenarioWith({}),
        stopWhen: (all) => all.length === 10 && all.every(({ end }) => end === "complete"),
      },
    );
    expect(requests).toHaveLength(10);
    expect(phase?.sessions).toMatchObject({ started: 10, completed: 0 });
  });
});

import { expect, test } from "vitest";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { type Sample, Sampler } from "../../../src/load/measure/sampler.ts";

const REQUEST = Buffer.from("POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nContent-Length: 2\r\n\r\n{}");

async function sampled(requests: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const sampler = new Sampler({
    ...{ redactor: new Redactor([]), originUs: 0, originMs: 0 },
    ...{ prefix: "s", account: "main", onSample: (sample: Sample) => samples.push(sample) },
  });
  for (let index = 0; index < requests; index++) {
    const prepared = {
      url: "http://127.0.0.1:1/v1/chat/completions",
      dialect: "chat",
      stream: false,
      bytes: REQUEST,
      key: "key.valid",
      capture: true,
    } as const;
    const exchange = new LoadExchange(prepared, index, 1_024);
    exchange.status = 200;
    exchange.head = "HTTP/1.1 200 OK\r\n";
    sampler.offer("w/w", exchange, { outcome: "admitted", what: "" });
  }
  await sampler.settle();
  return samples;
}

test("exchanges are kept over the whole phase, and few of them", async () => {
  const samples = await sampled(20_000);
  const dueAt = samples.map(({ exchange }) => exchange.timeline.dueUs);
  expect(samples.length).toBeLessThan(100);
  // Every tenth of the second half has one, and the last is near the end.
  for (let tenth = 5; tenth < 9; tenth++)
    expect(dueAt.some((at) => at >= tenth * 2_000 && at < (tenth + 1) * 2_000)).toBe(true);
  expect(Math.max(...dueAt)).toBeGreaterThan(17_000);
});

test("of a few requests all are kept", async () => {
  expect(await sampled(8)).toHaveLength(8);
});

test("the body of the request is part of what is kept", async () => {
  const [first] = await sampled(1);
  expect(first?.exchange.request).toMatchObject({ body: "{}", bodyBytes: 2 });
});

// real-time: gateways are restarted and lose their store while load is sent, and their processes are sampled.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecord } from "../../../src/record/index.ts";
import { gauntlet } from "../../support/gauntlet.ts";
import { startTwoGateways, type TwoGateways, type TwoGatewaysOptions } from "../../support/two-gateways.ts";

async function load({ folder, environment, workload }: TwoGateways, text: string) {
  const out = join(folder, "out");
  const finished = await gauntlet(
    ["load", workload(text), "--target", join(folder, "target.yaml"), "--out", out],
    environment,
  );
  const record = existsSync(join(out, "run.json")) ? readRecord(out) : undefined;
  const run = record?.load?.runs[0];
  const findings = record?.checks.find(({ id }) => id === "load.w.events")?.findings ?? [];
  return { ...finished, run, findings: new Map(findings.map((one) => [one.name, one])) };
}

const WITH_LIMIT: TwoGatewaysOptions = {
  ...{ shared: true, limits: "60000:30", disturb: "limits: { rpm: 60000, inFlight: 30 }\n" },
};

const restartWorkload = (expectation = "capacityLeaked: 0") => `name: w
arrivals: { kind: constant, ratePerS: 4, durationS: 8 }
mix: [{ dialect: chat, stream: true }]
events:
  - { name: roll, at: 4s, disturb: roll, expect: { ${expectation} } }
`;

describe("capacity after an event", () => {
  test("no capacity has leaked after replicas that drain were restarted", async () => {
    await using gateways = await startTwoGateways("--drain 10000 --pace 100", WITH_LIMIT);
    const { code, stdout, findings, run } = await load(gateways, restartWorkload());
    // A busy machine leaves the latencies of the load undecided, but not the capacity.
    expect(code, stdout).toBe(/too busy|other processes used/.test(stdout) ? 4 : 0);
    expect(findings.get("event.roll.capacity-leaked")).toMatchObject({ outcome: "met" });
    expect(run?.afterLoad).toMatchObject({ limit: 30, sent: 30, admitted: 30, denied: 0, atOnce: 30, others: [] });
    expect(run?.phases).toHaveLength(1);
  }, 120_000);

  test("a replica that forgets what ended while the other one stopped leaks capacity", async () => {
    const mutation = "--mutation disturbed.drained-streams-stay-counted";
    await using gateways = await startTwoGateways(`--drain 10000 --pace 100 ${mutation}`, WITH_LIMIT);
    const { code, stdout, findings } = await load(gateways, restartWorkload());
    expect(code, stdout).toBe(1);
    expect(findings.get("event.roll.capacity-leaked")).toMatchObject({
      outcome: "broken",
      requirements: ["LIMIT-CONC-4"],
    });
    expect(stdout).toMatch(/event\.roll\.capacity-leaked: .*\d+ denied by the concurrency limit of 30/);
  }, 120_000);

  test.each([
    [
      "sends garbage",
      "stream.empty",
      /15 of 30 concurrent streams admitted after the load, 0 denied by the concurrency limit of 30; 15 empty body/,
    ],
    [
      "has no concurrency limit and short streams",
      "",
      /only \d+ of them are known to have run concurrently\. Set models\.stream to a model with longer streams/,
    ],
  ])(
    "is undecided for a gateway that %s",
    async (_name, mutation, why) => {
      const options = mutation === "" ? "--pieces 1" : "";
      await using gateways = await startTwoGateways(`--drain 5000 ${options}`, WITH_LIMIT);
      const restart = `run: "./roll.sh ${mutation === "" ? "" : `--mutation ${mutation}`}"`;
      const { code, stdout, findings } = await load(gateways, restartWorkload().replace("disturb: roll", restart));
      expect(code, stdout).not.toBe(0);
      expect(findings.get("event.roll.capacity-leaked")).toMatchObject({
        outcome: "undecided",
        reason: { text: expect.stringMatching(why) },
      });
    },
    120_000,
  );

  test("the plan includes the streams; without a declared limit, the error names the target file", async () => {
    await using gateways = await startTwoGateways("", WITH_LIMIT);
    const { folder, environment, workload } = gateways;
    const planned = await gauntlet(
      ["load", workload(restartWorkload()), "--target", join(folder, "target.yaml"), "--dry-run"],
      environment,
    );
    expect(planned.stdout).toContain("at most 100 requests");
    await using others = await startTwoGateways();
    const path = others.workload(
      restartWorkload("capacityLeaked: 0, cpuPerRequest: '<= 3x', logBytesPerRequest: '<= 5x'"),
    );
    const refused = await gauntlet(["load", path, "--target", join(others.folder, "target.yaml")], others.environment);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /target\.yaml \(limits\): must state inFlight: the event "roll" of the workload expects that no capacity leaks \(capacityLeaked: 0\)/,
    );
    expect(refused.stderr).toMatch(
      /\(processes\.pidFiles\): missing; the event "roll" of the workload limits cpuPerRequest/,
    );
    expect(refused.stderr).toMatch(
      /\(processes\.logs\): missing; the event "roll" of the workload limits logBytesPerRequest/,
    );
  }, 60_000);
});

describe("cost of requests during an event", () => {
  const workload = `name: w
arrivals: { kind: constant, ratePerS: 12, durationS: 26 }
mix: [{ dialect: chat }]
events:
  - name: slow
    at: 12s
    run: "./roll.sh"
    expect: { cpuPerRequest: "<= 3x", logBytesPerRequest: "<= 5x" }
`;
  const PROCESSES: TwoGatewaysOptions = {
    disturb: "processes: { pidFiles: [a.pid, b.pid], logs: [a.log, b.log] }\n",
  };

  test("after a restart, the new processes are not compared with the old ones", async () => {
    await using gateways = await startTwoGateways("--drain 5000 --log-requests", PROCESSES);
    const { code, stdout, findings, run } = await load(gateways, workload);
    expect(code, stdout).toBe(4);
    for (const [name, what] of [
      ["cpu-per-request", "CPU time"],
      ["log-bytes-per-request", "log output"],
    ])
      expect(findings.get(`event.slow.${name}`)).toMatchObject({
        outcome: "undecided",
        reason: {
          text: expect.stringMatching(
            new RegExp(`^${what} during the event is unknown: a process or a file was replaced`),
          ),
        },
      });
    const { processes, logs } = run?.watched ?? {};
    expect(processes?.samples.slice(1).every(({ cpuShare }) => cpuShare === null || cpuShare >= 0)).toBe(true);
    expect(logs?.files).toEqual(["a.log", "b.log"]);
    expect(logs?.samples.slice(1).every(({ bytes }) => bytes === null || bytes >= 0)).toBe(true);
  }, 120_000);

  test("a pid file without a running process is an error of the target file", async () => {
    await using gateways = await startTwoGateways("", {
      disturb: "processes: { pidFiles: [a.pid, missing.pid], logs: [missing.log] }\n",
    });
    const { code, stderr } = await load(gateways, workload);
    expect(code).toBe(2);
    expect(stderr).toMatch(/target\.yaml \(processes\.pidFiles\.1\): .*missing\.pid cannot be read/);
    expect(stderr).toMatch(/\(processes\.logs\.0\): .*missing\.log cannot be read/);
  }, 60_000);
});

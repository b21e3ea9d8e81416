// real-time: gateways are restarted while load is sent, and their latency is compared with that before.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecord } from "../../../src/record/index.ts";
import { gauntlet, startGauntlet } from "../../support/gauntlet.ts";
import { startTwoGateways, type TwoGateways } from "../../support/two-gateways.ts";

const EXPECT = "expect: { failed: 0, truncatedStreams: 0, recoveredWithinS: 5 }";

function workloadWith(events: string, durationS = 20): string {
  return `name: disturbed
arrivals: { kind: constant, ratePerS: 12, durationS: ${durationS} }
mix: [{ dialect: chat }, { dialect: chat, stream: true, weight: 2 }]
events:
${events}
`;
}

async function load({ folder, environment, workload }: TwoGateways, text: string) {
  const out = join(folder, "out");
  const args = ["load", workload(text), "--target", join(folder, "target.yaml"), "--out", out];
  const finished = await gauntlet(args, environment);
  const record = existsSync(join(out, "run.json")) ? readRecord(out) : undefined;
  const findings = new Map(
    (record?.checks.find(({ id }) => id === "load.disturbed.events")?.findings ?? []).map((one) => [one.name, one]),
  );
  return { ...finished, out, record, event: record?.load?.runs[0]?.events?.[0], findings };
}

describe("events during a load", () => {
  test("two gateways that drain are restarted one after the other without a failed request", async () => {
    await using gateways = await startTwoGateways();
    const { code, stdout, event, findings, out } = await load(
      gateways,
      workloadWith(`  - { name: roll, at: 5s, disturb: roll, ${EXPECT} }`, 25),
    );
    expect(code, stdout).toBe(0);
    expect([...findings.values()].map(({ name, outcome }) => [name, outcome])).toEqual([
      ["event.roll", "met"],
      ["event.roll.failed", "met"],
      ["event.roll.truncated-streams", "met"],
      ["event.roll.recovered", "met"],
    ]);
    expect(event?.figures?.streams.inFlight.finished).toBeGreaterThan(0);
    expect(event?.execution?.output).toMatch(/^restarted, not shown: /);
    expect(JSON.stringify(event)).not.toContain("sk-two-gateways");
    expect(stdout).toContain("event roll at 5.0 s: run ./roll.sh: exit code 0");
    expect(readFileSync(join(out, "report.html"), "utf8")).toContain("run ./roll.sh");
  }, 120_000);

  test("a killed gateway cuts its streams, which fails", async () => {
    await using gateways = await startTwoGateways();
    const { code, event, findings, stdout } = await load(
      gateways,
      workloadWith(`  - { name: kill, at: 5s, disturb: kill, after: { disturb: start }, durationS: 2, ${EXPECT} }`),
    );
    expect(code, stdout).toBe(1);
    expect(findings.get("event.kill.truncated-streams")).toMatchObject({ outcome: "broken" });
    expect(findings.get("event.kill.failed")).toMatchObject({ outcome: "broken" });
    expect(event?.figures?.streams.inFlight.truncated).toBeGreaterThan(0);
    expect(findings.get("event.kill.after")).toMatchObject({ outcome: "met" });
  }, 120_000);

  test("a gateway that cuts streams at SIGTERM fails", async () => {
    await using gateways = await startTwoGateways("--drain 0");
    const { code, findings, stdout } = await load(
      gateways,
      workloadWith(`  - { name: roll, at: 5s, disturb: roll, ${EXPECT} }`),
    );
    expect(code, stdout).toBe(1);
    expect(findings.get("event.roll.truncated-streams")).toMatchObject({ outcome: "broken" });
  }, 120_000);

  test("a gateway that sends 200 with garbage after its restart fails", async () => {
    await using gateways = await startTwoGateways();
    const { code, event, findings, stdout } = await load(
      gateways,
      workloadWith(`  - { name: roll, at: 5s, run: ./roll.sh --mutation chat.empty-success, ${EXPECT} }`, 25),
    );
    expect(code, stdout).toBe(1);
    expect(findings.get("event.roll.failed")).toMatchObject({ outcome: "broken" });
    expect(findings.get("event.roll.truncated-streams")).toMatchObject({ outcome: "met" });
    expect(event?.figures).toMatchObject({ recoveredS: null });
  }, 120_000);

  test("if the command fails, nothing is decided; a bound on a share needs enough requests", async () => {
    await using gateways = await startTwoGateways();
    const { code, findings, stdout } = await load(
      gateways,
      workloadWith(
        `  - { name: broken, at: 4s, run: "echo no such service; exit 3", expect: { failed: 0 } }
  - { name: idle, at: 6s, run: "true", expect: { failed: "< 0.1 %" } }`,
        10,
      ),
    );
    expect(code, stdout).toBe(4);
    expect(stdout).toContain(
      "the action of the event failed (run echo no such service; exit 3: exit code 3): no such service",
    );
    expect(findings.get("event.broken.failed")).toMatchObject({ outcome: "undecided" });
    expect(findings.get("event.idle.failed")).toMatchObject({
      outcome: "undecided",
      reason: {
        text: expect.stringMatching(/too few requests to decide < 0\.1 %; about [34],\d{3} requests are needed/),
      },
    });
  }, 60_000);

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s ends the command of an event and undoes it",
    async (signal) => {
      await using gateways = await startTwoGateways();
      const { folder, environment, workload } = gateways;
      const path = workload(
        workloadWith(`  - { name: pause, at: 1s, run: "sleep 60", after: "sleep 3; echo undone > undone.txt" }`, 30),
      );
      const args = ["load", path, "--target", join(folder, "target.yaml"), "--out", join(folder, "out")];
      await using running = startGauntlet(args, environment);
      await running.printed("gauntlet: event pause at 1.0 s: run sleep 60");
      running.child.kill(signal);
      const { code, stderr } = await running.finished;
      expect(code, stderr).toBe(signal === "SIGINT" ? 130 : 143);
      expect(readFileSync(join(folder, "undone.txt"), "utf8")).toBe("undone\n");
      expect(readRecord(join(folder, "out")).load?.runs[0]?.events?.[0]).toMatchObject({
        execution: { succeeded: false, result: "aborted because the load was interrupted" },
        undo: { succeeded: true },
      });
    },
    60_000,
  );
});

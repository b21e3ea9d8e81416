import { expect, test } from "vitest";
import { CircuitBreaker } from "../../../src/checks/gateway/circuit-breaker.ts";
import { seen } from "../../support/seen-response.ts";

/** Sequential replies; the function determines how long each is. */
function noteReplies(
  circuit: CircuitBreaker,
  count: number,
  durationMs: (index: number) => number,
  fromMs = 0,
): number {
  let atMs = fromMs;
  for (let index = 0; index < count; index++) {
    const sentMs = atMs;
    atMs += durationMs(index);
    circuit.note(seen({ sentMs, endMs: atMs, intent: "valid" }), true);
  }
  return atMs;
}

test("a model that needs five seconds from the beginning does not become slower, however fast the list is", () => {
  const circuit = new CircuitBreaker();
  for (let index = 0; index < 20; index++)
    circuit.note(seen({ sentMs: index * 30, endMs: index * 30 + 20, endpoint: "models", intent: "valid" }), true);
  noteReplies(circuit, 60, () => 5_000, 1_000);
  expect(circuit.opened).toBeUndefined();
});

test("a gateway whose replies take a hundred times as long as at first opens the circuit", () => {
  const circuit = new CircuitBreaker();
  const fastMs = noteReplies(circuit, 12, () => 50);
  noteReplies(circuit, 30, () => 5_000, fastMs);
  expect(circuit.opened?.message).toMatch(
    /slower and slower: a plain reply took 50 ms at the start and now takes 5000 ms/,
  );
});

import { type Check, defineInvariant, isStale, type Response } from "../../src/checks/index.ts";
import { that } from "../../src/judging/index.ts";

/** A pause after which gateways and the proxies in front of them begin to close idle connections, µs. */
const IDLE_US = 2_500_000;
/** Fewer resets may be the race between a close and a request. */
const FEWEST = 3;

const idleConnections = defineInvariant({
  id: "robustness.idle-connections",
  title: "An idle connection is either closed in time or still works",
  covers: ["HTTP-KEEP-ALIVE"],
  explains:
    "Checks every request of the run on a connection that had been idle for 2.5 s or more. A gateway may close such a connection. If it resets the connection only when the next request arrives, the client has to repeat a request without knowing whether it was served.",
  judge(responses, verdict) {
    const rested = restedOnes(responses);
    const reset = rested.filter(({ exchange }) => isStale(exchange));
    if (rested.length < FEWEST) return verdict.notApplicable("too few requests reused a connection that had been idle");
    const most = that("fewer than half of them", (count) => (count as number) < Math.max(FEWEST, rested.length / 2));
    verdict.should("HTTP-KEEP-ALIVE", reset.length, most, {
      in: reset[0] ?? rested[0],
      because: `requests (of ${rested.length} on idle connections) that were reset`,
    });
  },
});

/** Requests on a connection whose previous request had ended a while ago. */
function restedOnes(responses: readonly Response[]): Response[] {
  const endedUs = new Map<string, number>();
  const byStart = [...responses].sort((a, b) => (startUs(a) ?? 0) - (startUs(b) ?? 0));
  return byStart.filter((response) => {
    const { connection, timeline } = response.exchange;
    const before = endedUs.get(connection.id);
    endedUs.set(connection.id, timeline.endUs);
    return connection.earlier > 0 && before !== undefined && (startUs(response) ?? 0) - before > IDLE_US;
  });
}

const startUs = ({ exchange }: Response) => exchange.timeline.sentUs;

export const IDLE_CONNECTIONS: readonly Check[] = [idleConnections];

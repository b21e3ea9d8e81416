import { type Check, defineInvariant, describeStop, isOwnNetwork, stopIn } from "../../src/checks/index.ts";

const keepsResponding = defineInvariant({
  id: "robustness.keeps-responding",
  title: "The gateway responds until the end of the run",
  covers: ["KEEPS-RESPONDING"],
  explains:
    "If requests get no response, plain requests on new connections show whether the gateway still responds to anything: lists of models and replies, five requests within fifteen seconds. If none of them gets a response, the gateway has stopped, and the run ends. One of the requests in flight at that moment is probably the cause: send each of them alone to a fresh instance. Other checks judge single requests that hang or are reset, and stalls of a few seconds.",
  judgesStop: true,
  judge(responses, verdict) {
    const stop = stopIn(responses);
    if (stop !== undefined && isOwnNetwork(stop))
      return verdict.inconclusive("the network of this machine was not available");
    verdict.must("KEEPS-RESPONDING", stop !== undefined, false, {
      ...(stop === undefined ? {} : { in: stop.inFlight[0] ?? stop.after, because: describeStop(stop) }),
    });
  },
});

export const KEEPS_RESPONDING: readonly Check[] = [keepsResponding];

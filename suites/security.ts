import { type Check, defineInvariant } from "../src/checks/index.ts";

const noKeyInResponses = defineInvariant({
  id: "security.no-key-in-answers",
  title: "No response repeats a key",
  covers: ["SEC-3"],
  explains:
    "Searches headers and bodies of every response for the keys in use, plain and encoded. Bodies end up in logs, and so does any key in them. Masked forms are fine.",
  judge(responses, verdict) {
    const received = responses.filter(({ status }) => status !== undefined);
    if (received.length === 0) return verdict.inconclusive("no response arrived");
    const leaks = received.filter(({ exchange }) =>
      exchange.redactions.some(({ place, whole }) => whole && place !== "request"),
    );
    const secrets = leaks.flatMap(({ exchange }) =>
      exchange.redactions.filter(({ place }) => place !== "request").map(({ secret }) => secret),
    );
    verdict.should("SEC-3", [...new Set(secrets)].join(", "), "", {
      in: leaks[0],
      because: `${leaks.length} of ${received.length} responses`,
    });
  },
});

export const SECURITY: readonly Check[] = [noKeyInResponses];

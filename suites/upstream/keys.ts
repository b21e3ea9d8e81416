import { type Check, defineCheck } from "../../src/checks/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { assumeReachedProviders, sendMarked } from "./marked.ts";

const callerKey = defineCheck({
  id: "upstream.caller-key",
  title: "No provider receives the caller's key",
  covers: ["UPSTREAM-CALLER-KEY"],
  explains:
    "Checks the credentials of the requests that reach the providers, and searches their other headers, paths and bodies for the caller's key. The key is for the gateway alone: whoever has it can spend the caller's money. A gateway whose callers supply the provider's own key declares it (upstream.callerKey: passed-on).",
  needs: ["upstream"],
  across: { dialect: DIALECTS },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendMarked(t, { mode: "non-streaming" });
    const stream = await sendMarked(t, { mode: "streaming", intent: "any" });
    const markers = [plain.marker, stream.marker];
    const credentials = await Promise.all(markers.map((marker) => t.upstream.credentials(marker)));
    const ours = credentials.reduce((sum, one) => sum + one.ours, 0);
    const outsideCredentials = plain.upstream.ourKeys + stream.upstream.ourKeys;
    return { plain, ours, outsideCredentials, isPassedOn: t.target.upstream?.passesCallerKey === true };
  },
  judge({ plain, ours, outsideCredentials, isPassedOn }, verdict) {
    if (isPassedOn) verdict.notApplicable("the target declares upstream.callerKey: passed-on");
    assumeReachedProviders(verdict, plain);
    const seen = { in: plain.response };
    verdict.must("UPSTREAM-CALLER-KEY", ours, 0, { ...seen, because: "credentials of the caller reached a provider" });
    verdict.must("UPSTREAM-CALLER-KEY", outsideCredentials, 0, {
      ...seen,
      because: "other places that held a key of the caller",
    });
  },
});

export const KEYS: readonly Check[] = [callerKey];

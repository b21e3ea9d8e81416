import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { MODES } from "../../src/dialects/index.ts";
import { aReply } from "../../src/judging/index.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { nonexistentKey } from "../shared/requests/fabricated-key.ts";

/** The value of the dialect's own key header next to a valid bearer key; `undefined` if the target has no such key. */
const VENDOR_KEYS: Readonly<Record<string, (t: Session) => string | undefined>> = {
  "same-key": (t) => t.target.keys.valid.reveal(),
  "unknown-key": (t) => nonexistentKey(t).reveal(),
  "revoked-key": (t) => t.target.keys.revoked?.reveal(),
};

const isSporadic = ({ status = 599 }: Response): boolean => status >= 500 || status === 429;

const bothKeys = defineCheck({
  id: "auth.both-keys",
  title: "A valid bearer key is enough even with the dialect's own key header",
  covers: ["COMPAT-BOTH-KEYS", "AUTH-6"],
  explains:
    "The bearer key is the credential; the specification does not mention `x-api-key`. Clients of the messages dialect send both when they are configured with a bearer token and an API key remains in their environment or headers. Sends a valid bearer key with an x-api-key header that has the same key, a key that was never issued, or a revoked key. A warning means that the gateway prefers the leftover key, or rejects the pair.",
  dialect: "messages",
  across: { mode: MODES, case: Object.keys(VENDOR_KEYS) },
  cost: { requests: 3 },
  async run(t) {
    const vendorKey = VENDOR_KEYS[t.case]?.(t);
    if (vendorKey === undefined) return null;
    const request: RequestSpec = { endpoint: "messages" };
    const send = () =>
      t.send({
        ...request,
        // Explicit header: a denial of the pair is not a denial of the valid key.
        authorization: `Bearer ${t.target.keys.valid.reveal()}`,
        headers: [["x-api-key", vendorKey]],
        intent: "invalid",
      });
    const control = await sendControl(t, request);
    const first = await send();
    // A provider may fail once.
    return { control, response: isSporadic(first) ? await send() : first };
  },
  judge(recording, verdict) {
    if (recording === null) return verdict.notApplicable("the target has no revoked key");
    const { control, response } = recording;
    assumeControl(verdict, control);
    if (response.status === undefined || response.status === 429)
      return verdict.inconclusive(`no response shows which key counts: ${response.summary}`);
    const seen = { in: response };
    verdict.observe("AUTH-6", response.summary, { in: response });
    verdict.compat("COMPAT-BOTH-KEYS", response.admitted, aReply, seen);
  },
});

export const BOTH_KEYS: readonly Check[] = [bothKeys];

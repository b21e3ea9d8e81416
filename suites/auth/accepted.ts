import { type Check, defineCheck, defineInvariant, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { aReply, success } from "../../src/judging/index.ts";
import { isOfInterface } from "../shared/cases/of-interface.ts";
import { isFundedKey } from "../shared/requests/good-keys.ts";
import { dialectOfEndpoint, ENDPOINTS, endpointOf } from "./endpoints.ts";

const bearerAuthenticates = defineCheck({
  id: "auth.bearer",
  title: "A bearer key authenticates every endpoint",
  covers: ["AUTH-1", "BASE-2"],
  explains:
    "Sends the same valid key, and the target's other valid keys, to each endpoint, on a new and on a reused connection, and expects 2xx. A failure means that this endpoint rejects a key that the others accept.",
  dialect: dialectOfEndpoint,
  across: { case: ENDPOINTS },
  cost: { requests: 5 },
  async run(t) {
    const endpoint = endpointOf(t);
    const others: Response[] = [];
    for (const key of [t.target.keys.second, t.target.keys.other])
      if (key !== undefined) others.push(await t.send({ key, endpoint }));
    return {
      fresh: await t.send({ endpoint, freshConnection: true }),
      reused: await t.send({ endpoint }),
      again: await t.send({ endpoint }),
      others,
    };
  },
  judge({ others, ...own }, verdict) {
    // Another account may not have the model; a gateway that says so has accepted the key.
    const isWithoutModel = ({ exchange, reason }: Response) => exchange.key === "other" && reason === "model_not_found";
    const responses = [...Object.values(own), ...others.filter((response) => !isWithoutModel(response))];
    // A failing provider or a lost connection says nothing about the key; robustness.stable-service counts those.
    const conclusive = responses.filter(({ status = 500 }) => status < 500);
    const [first] = conclusive;
    if (first === undefined)
      return verdict.inconclusive(`no response shows whether the key was accepted: ${own.fresh.summary}`);
    for (const response of conclusive) {
      verdict.must("AUTH-1", response.status, success, { in: response, at: "status" });
    }
    verdict.must("BASE-2", first.admitted, aReply, { in: first });
  },
});

/** Other ways to send a valid key. The specification does not say how to treat them. */
const OTHER_WAYS: Readonly<Record<string, (key: string) => RequestSpec>> = {
  "vendor-header": (key) => ({ key: null, headers: [["x-api-key", key]] }),
  "query-parameter": (key) => ({ key: null, query: `?api_key=${encodeURIComponent(key)}` }),
  "lower-case-scheme": (key) => ({ authorization: `bearer ${key}` }),
  "two-spaces": (key) => ({ authorization: `Bearer  ${key}` }),
};

const otherWays = defineCheck({
  id: "auth.other-ways",
  title: "Other ways to pass a key",
  covers: ["AUTH-6"],
  explains:
    "The specification shows only the bearer header. Anything else that the gateway accepts is recorded, not judged.",
  across: { dialect: ["chat", "messages"], case: Object.keys(OTHER_WAYS) },
  cost: { requests: 1 },
  async run(t) {
    const way = OTHER_WAYS[t.case]?.(t.target.keys.valid.reveal()) ?? {};
    return { response: await t.send({ ...way, intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("AUTH-6", response.summary, { in: response });
  },
});

/** Whether this gateway uses 401 for something other than a key, according to its contract. */
function isOtherDenial({ reason = "", reasonsOfStatus }: Response): boolean {
  return reasonsOfStatus.includes(reason) && !["invalid_api_key", "key_revoked"].includes(reason);
}

const validKeysAlwaysAccepted = defineInvariant({
  id: "auth.valid-key-always",
  title: "No request with a valid key is denied because of its key",
  covers: ["AUTH-1", "ERR-401-INVALID"],
  explains:
    "Checks every request of the run that had a valid key and was otherwise valid: none may get 401 or 403. A failure means that keys are accepted only some of the time, for example because a cache and a database disagree.",
  judge(responses, verdict) {
    const good = responses.filter(
      ({ requested, exchange, status = 500 }) =>
        requested.intent === "valid" && isFundedKey(exchange.key) && status < 500,
    );
    if (good.length === 0) verdict.inconclusive("every request with a valid key got a server error");
    const refused = good.filter(({ status }) => status === 401 || status === 403);
    const named = `${refused.length} of ${good.length} refused`;
    verdict.must("AUTH-1", refused.length, 0, { in: refused[0], because: named });
    const invalid = responses.filter(
      (response) =>
        response.status === 401 &&
        isFundedKey(response.exchange.key) &&
        isOfInterface(response) &&
        !isOtherDenial(response),
    );
    verdict.must("ERR-401-INVALID", invalid.length, 0, {
      in: invalid[0],
      because: "401 for a key that is neither missing nor invalid",
    });
  },
});

export const ACCEPTED_KEYS: readonly Check[] = [bearerAuthenticates, otherWays, validKeysAlwaysAccepted];

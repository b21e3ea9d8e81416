import { type Check, defineCheck } from "../../src/checks/index.ts";
import { judgeList } from "../models.ts";
import { sdkHeaders, sdksOf } from "../shared/requests/as-sdks-send.ts";
import { listedModels } from "../shared/requests/model-ids.ts";

const DIALECT_OF = Object.fromEntries(
  (["chat", "messages"] as const).flatMap((dialect) => sdksOf(dialect).map((sdk) => [sdk, dialect])),
);

const listAsSdksSend = defineCheck({
  id: "models.as-sdks-send",
  title: "The model list is served to a request with an SDK's headers",
  covers: ["MODELS-1", "MODELS-2"],
  explains:
    "Fetches the list twice: with only the headers that the specification shows, which must be served, and with the headers that a current SDK sends. Both responses must be a model list. A failure means that a rule on these headers, often in a proxy or firewall in front of the gateway, keeps real clients from listing models.",
  dialect: (axes) => DIALECT_OF[axes.case ?? ""] ?? "any",
  across: { case: Object.keys(DIALECT_OF) },
  cost: { requests: 2 },
  async run(t) {
    const { version, versionValue } = t.target.headers;
    // The SDKs of this dialect send its version header here as well.
    const own = t.dialect === "messages" ? [[version, versionValue] as const] : [];
    const headers = [...sdkHeaders(t.target, t.case, "models"), ...own];
    return {
      control: await t.control({ endpoint: "models" }),
      list: await t.send({ endpoint: "models", headers }),
    };
  },
  judge({ control, list }, verdict) {
    verdict.requireControl(control, "the model list");
    // Defects of every list belong to models.list.
    verdict.assume(listedModels(control).isArray, "without these headers, `data` is an array");
    judgeList(list, verdict);
  },
});

export const LIST_AS_SDKS_SEND: readonly Check[] = [listAsSdksSend];

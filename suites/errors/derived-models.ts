import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { isObject, member } from "../../src/core/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { isTrue, serverError } from "../../src/judging/index.ts";
import { idsOf } from "../shared/requests/model-ids.ts";

/** Ids similar to an enabled one, by how they are derived from it. */
function derivedFrom(id: string, nonce: string): Readonly<Record<string, string>> {
  const slash = id.lastIndexOf("/");
  const [provider, name] = [id.slice(0, Math.max(0, slash)), id.slice(slash + 1)];
  const beginning = /^.*[a-z](?=[a-z])/i.exec(name)?.[0];
  return {
    // Truncated within a word: an id that ends with a whole word may be the name of an older model.
    ...(beginning !== undefined && { "its beginning": id.slice(0, slash + 1) + beginning }),
    "a suffix after it": `${id}-${nonce}`,
    "another letter case": id === id.toUpperCase() ? id.toLowerCase() : id.toUpperCase(),
    "another provider": `${provider === "openai" ? "anthropic" : "openai"}/${name}`,
    "an invented provider": `gauntlet/${name}`,
    ...(provider !== "" && { "another name of its provider": `${provider}/${nonce}` }),
  };
}

/** An id that the list lacks, and the responses to it; there is a second one only if the first was not denied. */
type Derived = { readonly how: string; readonly id: string; readonly responses: readonly Response[] };

/** Denied like a model that does not exist, or refused for its form. */
function isRefused({ status = 0 }: Response): boolean {
  return status >= 400 && status < 500;
}

/** Whether the list says that it continues, in a member or in a Link header (RFC 8288). */
function hasMorePages(list: Response): boolean {
  const { json } = list;
  const names = isObject(json) ? Object.keys(json) : [];
  const isNext = (name: string) =>
    /^(has_(more|next)|next(_.*)?|next[A-Z].*)$/.test(name) && Boolean(member(json, name));
  return names.some(isNext) || /\brel="?next\b/i.test(list.header("link") ?? "");
}

const derivedModels = defineCheck({
  id: "errors.derived-model",
  title: "An id that only resembles an enabled model is not served",
  covers: ["MODELS-4"],
  explains:
    "Requests models whose ids are derived from the plain model's: a prefix of it, the id with a suffix, the opposite letter case, another or an invented provider, another name from the same provider. Ids named in the list or the target file are excluded. A model may be enabled without being listed, so one that is served is a warning: either the list is incomplete, or the gateway matches only part of an id, and callers who misspell an id are served by, and billed for, another model. A 5xx is also a warning if an unknown model is denied: the gateway passed the id on to a provider.",
  across: { dialect: DIALECTS },
  cost: { requests: 15 },
  async run(t) {
    const list = await t.control({ endpoint: "models" });
    const known = new Set([...idsOf(list), ...Object.values(t.target.models).flatMap((roles) => Object.values(roles))]);
    const plain = t.target.models[t.dialect].plain;
    const derived: Derived[] = [];
    for (const [how, id] of Object.entries(plain === undefined ? {} : derivedFrom(plain, t.nonce()))) {
      if (known.has(id)) continue;
      const send = () => t.send({ model: { id }, intent: "any" });
      const first = await send();
      derived.push({ how, id, responses: isRefused(first) ? [first] : [first, await send()] });
    }
    return { control: await t.control(), list, unknown: await t.send({ model: "unknown", intent: "denied" }), derived };
  },
  judge({ control, list, unknown, derived }, verdict) {
    verdict.requireControl(control);
    verdict.requireControl(list, "the model list");
    if (!isRefused(unknown)) return verdict.notApplicable("an unknown model is not denied; see errors.model-not-found");
    // The contents of further pages are unknown (MODELS-6).
    if (hasMorePages(list)) return verdict.notApplicable("the list has more pages");
    for (const { how, id, responses } of derived) {
      const response = responses.at(-1);
      if (response === undefined) continue;
      const seen = { in: response, because: `${id} (${how})` };
      if (responses.some(({ status }) => status === undefined || status === 429)) {
        verdict.markUndecided("inconclusive", `no response shows whether ${id} is enabled: ${response.summary}`);
        continue;
      }
      const isServed = responses.every(({ admitted }) => admitted);
      const isPassedOn = responses.every(({ status }) => serverError.test(status));
      verdict.should("MODELS-4", !isServed && !isPassedOn, isTrue("denied, like any model that is not enabled"), seen);
    }
    if (derived.length === 0) verdict.notApplicable("the list has every id that resembles the plain model's");
  },
});

export const DERIVED_MODELS: readonly Check[] = [derivedModels];

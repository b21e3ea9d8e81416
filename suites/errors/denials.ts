import { type Check, defineCheck, type Need, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { DIALECTS, type Dialect, MODES } from "../../src/dialects/index.ts";
import type { Reason } from "../../src/requirements/index.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { denialRequirements, judgeDenial } from "../shared/judge/judge-denial.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";

interface DenialCase {
  readonly id: `errors.${string}`;
  readonly reason: Reason;
  readonly title: string;
  /** The only difference from the control request. */
  readonly wrong: RequestSpec;
  readonly needs: readonly Need[];
  readonly advice: string;
}

/** The denials that a single request can trigger. A new one is one entry. */
const CASES: readonly DenialCase[] = [
  {
    id: "errors.key-revoked",
    reason: "key_revoked",
    title: "A revoked key is denied as key_revoked",
    wrong: { key: "revoked" },
    needs: ["key.revoked"],
    advice: "Revocation must be distinguishable from an unknown key, so that the caller knows to replace the key.",
  },
  {
    id: "errors.insufficient-credits",
    reason: "insufficient_credits",
    title: "An account without balance is denied as insufficient_credits",
    wrong: { key: "empty" },
    needs: ["key.empty"],
    advice: "An empty balance is 402 insufficient_credits, not a rate limit or a permission problem.",
  },
  {
    id: "errors.quota-exceeded",
    reason: "quota_exceeded",
    title: "A key at its daily cap is denied as quota_exceeded",
    wrong: { key: "capped" },
    needs: ["key.capped"],
    advice: "A key at its daily cap gets 402 quota_exceeded, whatever traffic used it up.",
  },
  {
    id: "errors.model-not-found",
    reason: "model_not_found",
    title: "A model that is not enabled is denied as model_not_found",
    wrong: { model: "unknown" },
    needs: [],
    advice: "An unknown model is 404 model_not_found; no other model may serve the request.",
  },
  {
    id: "errors.budget-exhausted",
    reason: "budget_exhausted",
    title: "A child key without budget is denied as budget_exhausted",
    wrong: { key: "childExhausted" },
    needs: ["key.childExhausted"],
    advice: "A used-up lifetime budget is 429 budget_exhausted: neither 402 nor one of the temporary 429 reasons.",
  },
];

/** Requests that are equivalent to the plainest one; a denial must not depend on the difference. */
const CIRCUMSTANCES: readonly ((dialect: Dialect) => RequestSpec)[] = [
  () => ({}),
  () => ({ freshConnection: true }),
  () => ({
    prompt: inTurns("three"),
  }),
  (dialect) => (dialect === "messages" ? { maxTokens: 1, system: "Be brief.", prompt: "hi" } : { prompt: "hi" }),
  () => ({ prompt: LONG_TEXT }),
];

const denialChecks = CASES.map((entry) =>
  defineCheck({
    id: entry.id,
    title: entry.title,
    covers: denialRequirements(entry.reason),
    explains: `${entry.advice} Sends a valid request, then the same request with only this wrong: on a reused and a fresh connection, in a conversation, with a short and a long text, and, where any key may be used, with the account's other key. Status and reason header are required in both dialects, streaming and non-streaming; the body's shape in the chat dialect only.`,
    needs: entry.needs,
    across: { dialect: DIALECTS, mode: MODES },
    cost: { requests: 6 },
    async run(t) {
      const control = await sendControl(t);
      const denied: Response[] = [];
      for (const circumstance of CIRCUMSTANCES) {
        denied.push(
          await t.send({
            ...circumstance(t.dialect),
            ...entry.wrong,
            intent: "denied",
            repeats: entry.reason !== "budget_exhausted",
          }),
        );
      }
      const { second } = t.target.keys;
      if (second !== undefined && !("key" in entry.wrong))
        denied.push(await t.send({ key: second, ...entry.wrong, intent: "denied" }));
      return { control, denied, expected: expectedDenial(t, entry.reason) };
    },
    judge({ control, denied, expected }, verdict) {
      assumeControl(verdict, control);
      for (const response of denied) judgeDenial(verdict, response, expected);
    },
  }),
);

const modelIsNotListed = defineCheck({
  id: "errors.unknown-model-unlisted",
  title: "A model id denied as unknown is not in the list",
  covers: ["ERR-404-1"],
  explains:
    "The advice for model_not_found is to check the id against GET /models; if an id is both listed and unknown, callers cannot fix the request.",
  cost: { requests: 2 },
  async run(t) {
    return {
      list: await t.send({ endpoint: "models" }),
      denied: await t.send({ model: "unknown", intent: "denied" }),
      unknown: t.target.models[t.dialect].unknown ?? "",
    };
  },
  judge({ list, denied, unknown }, verdict) {
    verdict.requireControl(list, "the model list");
    if (denied.status !== 404)
      return verdict.notApplicable("the invented model was not denied; see errors.model-not-found");
    verdict.should("ERR-404-1", list.text.includes(JSON.stringify(unknown)), false, {
      in: list,
      because: "the unknown id is listed",
    });
  },
});

export const DENIAL_CHECKS: readonly Check[] = [...denialChecks, modelIsNotListed];

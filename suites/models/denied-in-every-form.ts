import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { success } from "../../src/judging/index.ts";
import { AT_ONCE, type Caller, credentialsOf } from "../shared/requests/callers.ts";

/** Callers that get no list either, and the requirement that says so. The others may not spend, but may list. */
const NO_LIST = { missing: "MODELS-5", unknown: "MODELS-5", revoked: "AUTH-4" } as const;

type Listless = keyof typeof NO_LIST;

/** Ways to request the list that do not change who requests it. */
const LIST_WAYS: readonly RequestSpec[] = [
  { query: "?limit=1" },
  { headers: [["Accept", "text/html"]] },
  { headers: [["Accept-Encoding", "gzip, br"]] },
  { freshConnection: true },
];

const listDeniedInEveryForm = defineCheck({
  id: "models.denied-in-every-form",
  title: "A key that must be denied gets no model list for any request format",
  covers: ["MODELS-5", "AUTH-4"],
  explains:
    "Requests the list without a key, with an unknown key and with a revoked one: with a query, for a client that accepts web pages or compression, on a new connection, and several times at the same time. None may be served.",
  across: { case: Object.keys(NO_LIST) },
  cost: { requests: LIST_WAYS.length + AT_ONCE + 1 },
  async run(t) {
    const who = credentialsOf(t, t.case as Caller);
    if (who === null) return null;
    const request: RequestSpec = { ...who, endpoint: "models", intent: "denied", repeats: false };
    const plain = await t.send(request);
    const single: Response[] = [];
    for (const way of LIST_WAYS) single.push(await t.send({ ...request, ...way }));
    const together = await Promise.all(Array.from({ length: AT_ONCE }, () => t.start(request).done));
    return { plain, responses: [...single, ...together] };
  },
  judge(recording, verdict, { case: caller }) {
    if (recording === null) return verdict.notApplicable(`the target has no key ${caller}`);
    const { plain, responses } = recording;
    verdict.assume((plain.status ?? 0) >= 400, `a plain GET /models with the key "${caller}" is denied`);
    // A page for people instead of the list reveals nothing.
    for (const response of responses)
      verdict.must(NO_LIST[caller as Listless], success.test(response.status) && response.json !== undefined, false, {
        in: response,
        because: "the list is given",
      });
  },
});

export const LIST_DENIED_IN_EVERY_FORM: readonly Check[] = [listDeniedInEveryForm];

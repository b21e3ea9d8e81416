import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { callerError, that } from "../../src/judging/index.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";

/** Ids that no gateway has, in the usual formats. */
const NO_MODELS = (nonce: string): readonly string[] => [nonce, `gauntlet/${nonce}`, `${nonce}:latest`, `${nonce}-1.5`];

/** An unusual format: a gateway may call it malformed. */
const NO_ID = (nonce: string): string => `modèle-${nonce}-模型`;

const noSuchModel = defineCheck({
  id: "errors.no-such-model",
  title: "A nonexistent model is denied as model_not_found whatever its id looks like",
  covers: ["ERR-404-MODEL"],
  explains:
    "Sends ids that do not exist, with and without a provider, with a tag and with a version, and beyond ASCII, in both dialects. Each must get 404 model_not_found, like the target's own unknown model; the last may be rejected as malformed.",
  across: { dialect: DIALECTS },
  cost: { requests: 7 },
  async run(t) {
    const request: RequestSpec = { intent: "denied" };
    const responses: Response[] = [];
    for (const id of NO_MODELS(t.nonce())) responses.push(await t.send({ ...request, model: { id } }));
    return {
      control: await t.control(),
      beyondAscii: await t.send({ ...request, model: { id: NO_ID(t.nonce()) } }),
      plain: await t.send({ ...request, model: "unknown" }),
      responses,
      expected: expectedDenial(t, "model_not_found"),
    };
  },
  judge({ control, plain, responses, beyondAscii, expected }, verdict) {
    verdict.requireControl(control);
    for (const response of [plain, ...responses]) {
      const seen = { in: response };
      verdict.must("ERR-404-MODEL", response.status, expected.status, { ...seen, at: "status" });
      verdict.must("ERR-404-MODEL", response.reason, expected.readAs, { ...seen, at: "reason" });
    }
    const refused = that(`${expected.status}, or another refusal`, (status) => callerError.test(status));
    const seen = { in: beyondAscii, at: "status", because: "an id beyond ASCII" };
    verdict.must("ERR-404-MODEL", beyondAscii.status, refused, seen);
  },
});

export const NO_SUCH_MODEL: readonly Check[] = [noSuchModel];

import { type Check, defineCheck, success } from "../src/conformance/index.ts";

const bearerAuthenticates = defineCheck({
  id: "auth.bearer",
  title: "A bearer key authenticates every endpoint",
  covers: ["AUTH-1"],
  explains: "x",
  across: { dialect: ["chat", "messages"], mode: ["whole"] },
  cost: { requests: 1 },
  async probe(t) {
    return { good: await t.ask() };
  },
  judge({ good }, verdict) {
    verdict.must("AUTH-1", good.status, success, { in: good, at: "status" });
  },
});

export const AUTH: readonly Check[] = [bearerAuthenticates];

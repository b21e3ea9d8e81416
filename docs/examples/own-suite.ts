// A custom suite: what this team's gateway guarantees beyond the specification.
import { defineCheck, defineInvariant } from "gateway-gauntlet";

const temperatureIsTaken = defineCheck({
  id: "acme.temperature",
  title: "A temperature is accepted in both dialects",
  covers: ["CHAT-1", "MSG-1"],
  explains: "Sends a request with `temperature: 0.2` and a control request without it. Our clients always send it.",
  across: { dialect: ["chat", "messages"] },
  cost: { requests: 2 },
  // Only sends and records; makes no decision.
  async run(t) {
    return { plain: await t.send(), warm: await t.send({ fields: { temperature: 0.2 } }) };
  },
  // Decides from the recording only. `gauntlet rejudge` calls it again without sending anything.
  judge({ plain, warm }, verdict, { dialect }) {
    verdict.requireControl(plain);
    verdict.must(dialect === "messages" ? "MSG-1" : "CHAT-1", warm.status, 200, { in: warm, at: "status" });
  },
});

const responsesNameTheRegion = defineInvariant({
  id: "acme.region",
  title: "The region of every response is recorded",
  covers: ["HIST-2"],
  explains: "Reads a header of every response of the run. An observation never fails a run.",
  judge(responses, verdict) {
    const regions = new Set(responses.map((response) => response.header("x-region") ?? "none"));
    verdict.observe("HIST-2", [...regions].sort());
  },
});

export default [temperatureIsTaken, responsesNameTheRegion];

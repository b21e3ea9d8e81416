// A custom suite: what this team's gateway guarantees beyond the specification.
import { defineCheck, defineInvariant, defineRequirement } from "gateway-gauntlet";

const temperature = defineRequirement({
  id: "ACME-TEMPERATURE",
  level: "MUST",
  text: "A request with a `temperature` is accepted in both dialects.",
  source: "gateway handbook, 4.2",
});

const region = defineRequirement({
  id: "ACME-REGION",
  level: "SHOULD",
  text: "Every response names the region that served it.",
});

const temperatureIsTaken = defineCheck({
  id: "acme.temperature",
  title: "A temperature is accepted in both dialects",
  covers: [temperature],
  explains: "Sends a request with `temperature: 0.2` and a control request without it. Our clients always send it.",
  across: { dialect: ["chat", "messages"] },
  cost: { requests: 2 },
  // Only sends and records; makes no decision.
  async run(t) {
    return { plain: await t.send(), warm: await t.send({ fields: { temperature: 0.2 } }) };
  },
  // Decides from the recording only. `gauntlet rejudge` calls it again without sending anything.
  judge({ plain, warm }, verdict) {
    verdict.requireControl(plain);
    verdict.must(temperature, warm.status, 200, { in: warm, at: "status" });
  },
});

const responsesNameTheRegion = defineInvariant({
  id: "acme.region",
  title: "The region of every response is recorded",
  covers: [region],
  explains: "Reads a header of every response of the run. It is only recorded until every region sends it: an observation never fails a run.",
  judge(responses, verdict) {
    const regions = new Set(responses.map((response) => response.header("x-region") ?? "none"));
    verdict.observe(region, [...regions].sort());
  },
});

export default [temperatureIsTaken, responsesNameTheRegion];

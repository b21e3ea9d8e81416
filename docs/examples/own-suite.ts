// A suite of one's own: what this team's gateway promises beyond the specification.
import { defineCheck, defineInvariant } from "gateway-gauntlet";

const temperatureIsTaken = defineCheck({
  id: "acme.temperature",
  title: "A temperature is taken in both dialects",
  covers: ["CHAT-1", "MSG-1"],
  explains: "Sends a good request with `temperature: 0.2` beside one without. Our clients always send it.",
  across: { dialect: ["chat", "messages"] },
  cost: { requests: 2 },
  // Sends and records. Nothing is decided here.
  async run(t) {
    return { plain: await t.send(), warm: await t.send({ fields: { temperature: 0.2 } }) };
  },
  // Decides, from the recording alone: `gauntlet rejudge` calls it again without traffic.
  judge({ plain, warm }, verdict, { dialect }) {
    verdict.assumeGood(plain);
    verdict.must(dialect === "messages" ? "MSG-1" : "CHAT-1", warm.status, 200, { in: warm, at: "status" });
  },
});

const answersNameTheRegion = defineInvariant({
  id: "acme.region",
  title: "Which region answered is noted",
  covers: ["HIST-2"],
  explains: "Looks at every answer of the run. An observation: it never counts.",
  judge(answers, verdict) {
    const regions = new Set(answers.map((answer) => answer.header("x-region") ?? "none"));
    verdict.observe("HIST-2", [...regions].sort());
  },
});

export default [temperatureIsTaken, answersNameTheRegion];

import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { isLimitReason } from "../../src/dialects/index.ts";
import { notServerError, serverError, success, that } from "../../src/judging/index.ts";
import { denial } from "../../src/requirements/index.ts";
import { atOnce } from "../limits/send.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { AT_ONCE, CALLERS, type Caller, credentialsOf, reasonOf } from "../shared/requests/callers.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";

/** An acceptable response to a body of unknown length (RFC 9110, 15.5.12). */
const NO_LENGTH = 411;

/** Forms of a request that add no other reason for a denial. */
const WAYS: Readonly<Record<string, RequestSpec>> = {
  "in-chunks": { form: "in-chunks" },
  "with-spaces": { form: "with-spaces" },
  conversation: { prompt: inTurns(LONG_TEXT) },
  "events-accepted": { mode: "streaming", headers: [["Accept", "text/event-stream"]] },
};

/** Requests with a second mistake: which denial takes precedence is open. */
const TWICE_WRONG: Readonly<Record<string, RequestSpec>> = {
  "unknown-model": { model: "unknown" },
  "bad-body": { rawBody: '{"messages": [' },
};

const deniedInEveryForm = defineCheck({
  id: "errors.denied-in-every-form",
  title: "A key that must be denied is denied for every request format",
  covers: [...new Set(CALLERS.map((caller) => denial(reasonOf(caller)).requirement)), "ERR-BODY-2", "BAD-BODY"],
  explains:
    "Sends requests without a key, with an unknown and a revoked one, and with keys that may not spend: in chunks, with white space, as a conversation, for a client that accepts event streams, several at the same time, after Expect: 100-continue, with an unknown model, and with a body that cannot be parsed. None may be served or get a server error; where nothing else is wrong with the request, status and reason must be those of the requirement.",
  across: { case: CALLERS },
  cost: { requests: 21 },
  async run(t) {
    const caller = t.case as Caller;
    const who = credentialsOf(t, caller);
    if (who === null) return null;
    const request: RequestSpec = { ...who, intent: "denied", repeats: false };
    const both = async (way: RequestSpec) => {
      const responses: Response[] = [];
      for (const endpoint of t.target.dialects) {
        // A stream may be refused on /messages before anything else is checked.
        if (endpoint === "chat" || way.mode !== "streaming")
          responses.push(await t.send({ ...request, ...way, endpoint }));
      }
      return responses;
    };
    const expected = expectedDenial(t, reasonOf(caller));
    const single: Response[] = [];
    const twice: Response[] = [];
    for (const way of Object.values(WAYS))
      for (const response of await both(way)) {
        // If a valid key is also rejected in this form, the request has two errors.
        const { endpoint } = response.requested;
        const isKnownForm = response.status === expected.status || (await t.send({ ...way, endpoint })).admitted;
        (isKnownForm ? single : twice).push(response);
      }
    const inTurn = t.target.dialects.map((endpoint): RequestSpec => ({ ...request, endpoint }));
    const together = await atOnce(t, inTurn, AT_ONCE);
    for (const way of Object.values(TWICE_WRONG)) twice.push(...(await both(way)));
    const { status } = await t.expectContinue(who);
    return {
      control: await t.control(),
      plain: await both({}),
      single,
      together,
      twice,
      afterExpect: status ?? null,
      expected,
    };
  },
  judge(recording, verdict, { case: caller }) {
    if (recording === null) return verdict.notApplicable(`the target has no key ${caller}`);
    const { control, plain, single, together, twice, afterExpect, expected } = recording;
    verdict.requireControl(control);
    const { requirement } = denial(expected.reason);
    for (const response of [...plain, ...single, ...together]) {
      const seen = { in: response };
      // A gateway that requires a length says so before anything else; so does one whose account is busy.
      if (response.status === NO_LENGTH || isLimitReason(response.reason)) continue;
      if (!verdict.must(requirement, response.status, expected.status, { ...seen, at: "status" })) continue;
      verdict.must(requirement, response.reason, expected.readAs, { ...seen, at: "reason" });
      if (response.requested.endpoint === "chat" && plain[0]?.json !== undefined)
        verdict.should("ERR-BODY-2", response.json === undefined, false, {
          ...seen,
          because: "the denial has no JSON body",
        });
    }
    const notServed = that("no reply", (status) => !success.test(status));
    for (const response of twice) {
      const seen = { in: response, at: "status" };
      if (!verdict.must(requirement, response.status, notServed, seen)) continue;
      // A caller that always gets a server error does not get it because of the second mistake.
      const own = plain.filter(({ requested }) => requested.endpoint === response.requested.endpoint);
      if (own.some(({ status }) => serverError.test(status))) continue;
      verdict.should("BAD-BODY", response.status, notServerError, seen);
    }
    verdict.must(requirement, afterExpect, notServed, { at: "status", because: "after Expect: 100-continue" });
  },
});

export const DENIED_IN_EVERY_FORM: readonly Check[] = [deniedInEveryForm];

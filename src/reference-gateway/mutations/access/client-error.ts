import { grid, type Mutation, mutation } from "../../change.ts";
import { badBodyIs500, has } from "../../edits/replies/body-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { both, datedVersion, not, onChat, onMessages, systemTurn, type When } from "../../edits/when.ts";
import { onServed } from "../../edits/wrap.ts";

const SERVER_ERROR = ["HTTP-SERVER-ERROR"];

/** A 5xx for requests that the specification leaves open. */
export const CLIENT_ERROR_MUTATIONS: readonly Mutation[] = [
  ...grid(SERVER_ERROR, (when: When) => onServed(when, insteadOf("internal_error")), {
    "messages.without-version-500": {
      summary: "A request without the version header gets 500.",
      with: both(
        onMessages,
        not((call) => datedVersion(call) !== undefined),
      ),
    },
    "messages.system-in-parts-500": {
      summary: "A system prompt in parts gets 500.",
      with: both(onMessages, has("system", Array.isArray)),
      shownBy: "checks",
    },
    "chat.top-p-500": {
      summary: "A request with top_p gets 500.",
      with: both(
        onChat,
        has("top_p", () => true),
      ),
    },
  }),
  mutation("messages.system-turn-500", {
    breaks: SERVER_ERROR,
    summary: "A system item inside messages gets 500.",
    apply: badBodyIs500(both(onMessages, systemTurn)),
  }),
];

import { type Mutation, mutation } from "../change.ts";
import { badBodyIs500, has } from "../edits/replies/body-edits.ts";
import { insteadOf } from "../edits/replies/response-edits.ts";
import { both, datedVersion, not, onChat, onMessages, systemTurn } from "../edits/when.ts";
import { onServed } from "../edits/wrap.ts";

const SERVER_ERROR = ["HTTP-SERVER-ERROR"];

/** A 5xx for requests that the specification leaves open. */
export const CLIENT_ERROR_MUTATIONS: readonly Mutation[] = [
  mutation(
    "messages.without-version-500",
    SERVER_ERROR,
    "A request without the version header gets 500.",
    onServed(
      both(
        onMessages,
        not((call) => datedVersion(call) !== undefined),
      ),
      insteadOf("internal_error"),
    ),
  ),
  mutation(
    "messages.system-turn-500",
    SERVER_ERROR,
    "A system item inside messages gets 500.",
    badBodyIs500(both(onMessages, systemTurn)),
  ),
  mutation(
    "messages.system-in-parts-500",
    SERVER_ERROR,
    "A system prompt in parts gets 500.",
    onServed(both(onMessages, has("system", Array.isArray)), insteadOf("internal_error")),
  ),
  mutation(
    "chat.top-p-500",
    SERVER_ERROR,
    "A request with top_p gets 500.",
    onServed(
      both(
        onChat,
        has("top_p", () => true),
      ),
      insteadOf("internal_error"),
    ),
  ),
];

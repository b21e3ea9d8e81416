import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import type { ClientRun } from "../observation.ts";

/** The key must not follow a redirect to another host. Whether to follow the redirect at all is the client's choice. */
export function judgeOtherHosts(
  requirement: MustRequirement,
  { otherHost, attempts }: ClientRun,
  verdict: Verdict,
): void {
  const leaked = otherHost.find(({ keyIn }) => keyIn !== undefined);
  const [first] = otherHost;
  const followed =
    first === undefined
      ? "the redirect was not followed"
      : `followed without the key, by ${first.method} with ${first.bodyBytes === 0 ? "no" : `${first.bodyBytes} bytes of`} body`;
  verdict.must(
    requirement,
    leaked === undefined,
    isTrue(
      "no key at the host of a redirect",
      leaked === undefined ? followed : `${leaked.method} ${leaked.url} with the key in ${leaked.keyIn}`,
    ),
    { in: attempts[0] },
  );
}

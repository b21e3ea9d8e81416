import type { RunRecord } from "../../../src/record/index.ts";
import { PROFILE_MARKS } from "../../status-style.ts";
import { claimedFirst, describeProfile } from "../../text/index.ts";

/** The result of every profile, the claimed ones first; nothing if no profile was chosen. */
export function ProfileResults({ record: { profiles = [] } }: { readonly record: RunRecord }) {
  if (profiles.length === 0) return null;
  return (
    <ul class="profiles" aria-label="Profiles">
      {claimedFirst(profiles).map((profile) => (
        <li key={profile.name}>
          <i class={`pip ${PROFILE_MARKS[profile.result].tone}`} aria-hidden="true" />{" "}
          {profile.claimed ? <strong>{profile.name}</strong> : profile.name}: {describeProfile(profile)}
        </li>
      ))}
    </ul>
  );
}

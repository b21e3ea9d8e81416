import type { ProfileResult, RunRecord } from "../../../src/record/index.ts";
import type { Tone } from "../../status-style.ts";
import { claimedFirst, describeProfile } from "../../text/index.ts";

const PROFILE_TONES: Readonly<Record<ProfileResult["result"], Tone>> = {
  conformant: "good",
  "not-conformant": "bad",
  partial: "held",
  "not-claimed": "quiet",
};

/** The result of every profile, the claimed ones first; nothing if no profile was chosen. */
export function ProfileResults({ record: { profiles = [] } }: { readonly record: RunRecord }) {
  if (profiles.length === 0) return null;
  return (
    <ul class="profiles" aria-label="Profiles">
      {claimedFirst(profiles).map((profile) => (
        <li key={profile.name}>
          <i class={`pip ${PROFILE_TONES[profile.result]}`} aria-hidden="true" />{" "}
          {profile.claimed ? <strong>{profile.name}</strong> : profile.name}: {describeProfile(profile)}
        </li>
      ))}
    </ul>
  );
}

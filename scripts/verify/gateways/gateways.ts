import type { Gateway } from "./gateway.ts";
import { hardcap, hardcapPosthoc } from "./hardcap.ts";
import { inferrail } from "./inferrail.ts";
import { litellm, litellmWithoutDatabase } from "./litellm.ts";
import { litellmReplicas } from "./litellm-replicas.ts";
import { portkey } from "./portkey.ts";
import { inferrailScripted, litellmScripted } from "./scripted.ts";

/** Every third-party gateway that can be installed and started here. */
export const GATEWAYS: readonly Gateway[] = [
  portkey,
  litellmWithoutDatabase,
  litellm,
  hardcap,
  hardcapPosthoc,
  inferrail,
  litellmReplicas,
  litellmScripted,
  inferrailScripted,
];

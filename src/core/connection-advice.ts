import { UnreachableError } from "./errors.ts";

/** Why no response arrived, and what to do next. */
export interface ConnectionAdvice {
  readonly cause: string;
  readonly next: string;
}

/** Causes by the names that Node and undici use. The first match is shown. */
const CONNECTION: readonly (readonly [sign: RegExp, cause: string, next: string])[] = [
  [/a TLS record/, "the port speaks TLS, not plain HTTP", "Write https:// in baseUrl."],
  [
    /an HTTP\/2 frame/,
    "the port speaks HTTP/2 without TLS",
    "Serve HTTP/1.1 on it, or use the port that does in baseUrl.",
  ],
  [/no HTTP status line/, "what listens there does not speak HTTP", "Check host and port in baseUrl."],
  [/ENOTFOUND|EAI_AGAIN/, "the host name is unknown", "Check its spelling in baseUrl, and whether it needs a VPN."],
  [
    /wrong version number|packet length too long|unsupported protocol|EPROTO/i,
    "the port speaks plain HTTP, not TLS",
    "Write http:// in baseUrl.",
  ],
  [
    /SELF_SIGNED|self.signed|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|unable to get (local )?issuer/i,
    "its certificate is signed by an authority that is not known here",
    "Start with NODE_EXTRA_CA_CERTS=/path/to/ca.pem.",
  ],
  [
    /CERT_HAS_EXPIRED|certificate has expired/i,
    "its certificate has expired",
    "Renew it, and check this machine's clock.",
  ],
  [
    /ALTNAME|does not match certificate/i,
    "its certificate is for another host name",
    "Use the name that the certificate has in baseUrl.",
  ],
  [
    /ECONNREFUSED/,
    "connection refused, no server listens on this port",
    "Start the gateway, or correct host and port in baseUrl.",
  ],
  [/EHOSTUNREACH|ENETUNREACH/, "that network is unreachable", "Check the network or the VPN."],
  [/CONNECT_TIMEOUT|ETIMEDOUT/, "the host does not respond", "A firewall may be in the way; check host, port and VPN."],
];

/** How the recorder describes a response that is not HTTP/1.1. */
const MALFORMED = /^protocol-error: (.+)/;

/** Why an address did not respond, as far as the ending shows. */
function connectionAdvice(baseUrl: string, detail: string, environment: NodeJS.ProcessEnv): ConnectionAdvice {
  const known = CONNECTION.find(([sign]) => sign.test(detail));
  if (known !== undefined) {
    const [, cause, next] = known;
    const proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].find((name) => environment[name]);
    const direct = proxy === undefined ? "" : ` ${proxy} is set: Gauntlet connects directly and does not use it.`;
    return { cause, next: next + direct };
  }
  if (baseUrl.startsWith("http:") && /reset|socket|EOF|Expected HTTP|HPE_|closed/i.test(detail)) {
    return {
      cause: "the connection was closed without an HTTP response",
      next: "If the port speaks TLS, write https:// in baseUrl.",
    };
  }
  if (/deadline|idle/.test(detail)) {
    return {
      cause: "the server accepts connections, but does not respond",
      next: "A gateway that was idle may need time to start: try again, or raise timeouts.responseS.",
    };
  }
  return {
    cause: "no HTTP response arrived",
    next: "Check baseUrl in the target file, and that the gateway is running.",
  };
}

/**
 * The error for a target that does not respond.
 *
 * @param detail text of Node or OpenSSL: it selects the message and is kept as the cause, but is not shown.
 */
export function unreachableError(
  baseUrl: string,
  detail: string,
  environment: NodeJS.ProcessEnv = process.env,
): UnreachableError {
  const malformed = MALFORMED.exec(detail)?.[1];
  if (malformed !== undefined && !CONNECTION.some(([sign]) => sign.test(detail))) {
    const hint =
      "Fix what the gateway, or the proxy in front of it, sends. `gauntlet explain HTTP-FRAMING` shows the requirement.";
    return new UnreachableError(`no valid HTTP response from ${baseUrl}: ${malformed}`, { hint, cause: detail });
  }
  const { cause, next } = connectionAdvice(baseUrl, detail, environment);
  return new UnreachableError(`no response from ${baseUrl}: ${cause}`, { hint: next, cause: detail });
}

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A self-signed certificate for localhost, in a folder. @throws Error when openssl cannot make one. */
export function selfSigned(folder: string): { readonly key: Buffer; readonly cert: Buffer; readonly certPath: string } {
  const keyPath = join(folder, "key.pem");
  const certPath = join(folder, "cert.pem");
  const made = spawnSync(
    "openssl",
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"].concat(
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
      ...["-keyout", keyPath, "-out", certPath],
    ),
    { encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  return { key: readFileSync(keyPath), cert: readFileSync(certPath), certPath };
}

import type { Socket } from "node:net";

type Done = (error?: Error | null) => void;

/** The first write that failed on a socket. */
export interface WriteFailure {
  readonly error: Error | undefined;
}

/**
 * Keeps a socket readable after a write fails. A server may respond before it has read the whole request and then close the
 * connection (RFC 9112, 9.6): the rest of the request cannot be written, but the response can be read. Node destroys the socket
 * on a failed write and loses what had arrived. The end of the connection still ends the socket.
 */
export function outliveWriteErrors(socket: Socket): WriteFailure {
  let error: Error | undefined;
  // The server does not receive anything after a failed write.
  const guarded = (write: (done: Done) => void, done: Done) => {
    if (error !== undefined) done();
    else
      write((failure) => {
        error ??= failure ?? undefined;
        done();
      });
  };
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => guarded((ended) => write(chunk, encoding, ended), done);
  const writeAll = socket._writev?.bind(socket);
  if (writeAll !== undefined) socket._writev = (chunks, done) => guarded((ended) => writeAll(chunks, ended), done);
  return {
    get error() {
      return error;
    },
  };
}

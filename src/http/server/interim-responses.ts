import type { Socket } from 'node:net';

/** As long as the head of a `100 Continue` may be; the usual one has 25 bytes. */
const MAX_HEAD_BYTES = 16_384;
const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
/** As many bytes as distinguish a `100 Continue` from any other head. */
const TELLING_BYTES = 13;
const HEAD_END = Buffer.from('\r\n\r\n');
/** How undici begins a request: as text, where bodies are bytes and the frames around them have no such line. */
const REQUEST_LINE = /^[A-Z]+ [^\r\n]* HTTP\/1\.1\r\n/;

/**
 * Lets a socket's reader see no `100 Continue` before an answer. A client must be able to skip responses that it did not
 * ask for (RFC 9110, 15.2); undici skips the other interim responses, and ends the connection at this one (7.30,
 * `onHeadersComplete`). For connections that carry one request at a time.
 */
export function skipContinueResponses(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write: (...args: unknown[]) => boolean = socket.write.bind(socket) as never;
  /** Whether the next bytes begin a response. */
  let awaitsHead = false;
  let buffered: Buffer = Buffer.alloc(0);

  socket.write = ((...args: unknown[]) => {
    const [data] = args;
    if (typeof data === 'string' && REQUEST_LINE.test(data)) awaitsHead = true;
    return write(...args);
  }) as Socket['write'];

  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const bytes = read(size) as Buffer | null;
      if (!awaitsHead) return bytes;
      if (bytes !== null) buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes]);
      const answer = withoutContinue(buffered);
      if (answer !== null) {
        awaitsHead = false;
        buffered = Buffer.alloc(0);
        return answer;
      }
      if (bytes === null) return null;
    }
  };
}

/** The bytes after any number of `100 Continue` heads; null while they may still be part of one. */
function withoutContinue(bytes: Buffer): Buffer | null {
  let rest = bytes;
  for (;;) {
    const start = rest.toString('latin1', 0, TELLING_BYTES);
    if (start.length < TELLING_BYTES) return 'HTTP/1.'.startsWith(start.slice(0, 7)) ? null : rest;
    if (!CONTINUE.test(start)) return rest;
    const end = rest.indexOf(HEAD_END);
    if (end === -1) return rest.length < MAX_HEAD_BYTES ? null : rest;
    rest = rest.subarray(end + HEAD_END.length);
  }
}

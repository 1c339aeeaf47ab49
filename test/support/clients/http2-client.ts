import { once } from 'node:events';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';

export interface Http2Reply {
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: string;
  /** 0 where the stream was not reset. */
  resetCode: number;
}

export interface Http2Client {
  /** @param body sent whole; null leaves the request unfinished */
  (headers: OutgoingHttpHeaders, body?: Buffer | string | null): Promise<Http2Reply>;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
  close(): void;
}

/** A connection that speaks HTTP/2 without TLS from its first byte on. */
export async function http2Client(port: number): Promise<Http2Client> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  const closed = new Promise<void>((resolve) => session.once('close', resolve));
  await once(session, 'connect');
  const request = async (
    headers: OutgoingHttpHeaders,
    body: Buffer | string | null = '',
  ): Promise<Http2Reply> => {
    const stream = session.request(headers, { endStream: false });
    const reply: Http2Reply = { headers: {}, trailers: {}, body: '', resetCode: 0 };
    stream.on('response', (received) => {
      reply.headers = received;
    });
    stream.on('trailers', (received) => {
      reply.trailers = received;
    });
    stream.setEncoding('utf8').on('data', (text: string) => {
      reply.body += text;
    });
    if (body !== null) stream.end(body);
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('close', resolve));
    return { ...reply, resetCode: stream.rstCode };
  };
  request.closed = closed;
  request.close = () => session.close();
  return request;
}

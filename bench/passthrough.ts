/**
 * The peer: what one would write in an afternoon to put a Node process before a model API. No key check, no
 * rewriting, no metering, no ledger.   node bench/passthrough.ts ORIGIN
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';

const origin = process.argv[2] ?? '';

/** All headers but those that belong to one connection (RFC 9110, section 7.6.1) and the host. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { host, connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers;
  return rest;
}

const server = createServer(async (incoming, response) => {
  try {
    const upstream = await request(origin + incoming.url, {
      method: incoming.method ?? 'GET',
      headers: endToEnd(incoming.headers),
      body: incoming.method === 'GET' ? null : incoming,
    });
    response.on('close', () => upstream.body.destroy());
    response.writeHead(upstream.statusCode, endToEnd(upstream.headers));
    upstream.body.on('error', () => response.destroy()).pipe(response);
  } catch (error) {
    response.writeHead(502).end(String(error));
  }
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') {
    console.log(`listening on http://127.0.0.1:${address.port}`);
  }
});
process.once('SIGTERM', () => process.exit(0));

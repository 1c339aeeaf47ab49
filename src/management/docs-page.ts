import type { Exchange } from '../http/server.ts';
import { type ApiDocument, renderReference } from './reference.ts';

/** The reference for people, `GET /api/docs`: one page without scripts, made from the OpenAPI document. */
export function docsPage({ id, request, response }: Exchange, document: object): null {
  const page = renderReference(document as ApiDocument);
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'x-request-id': id,
  });
  response.end(request.method === 'HEAD' ? '' : page);
  return null;
}

import { sendWhole } from '../../http/send.ts';
import type { Exchange } from '../../http/server/server.ts';
import { securityHeaders } from '../guard/security-headers.ts';
import { type ApiDocument, renderReference } from './reference.ts';

/** The reference for people, `GET /api/docs`: one page without scripts, made from the OpenAPI document. */
export function docsPage(exchange: Exchange, document: object): null {
  sendWhole(exchange, 200, renderReference(document as ApiDocument), {
    ...securityHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  });
  return null;
}

import { sendWhole } from '../../http/send.ts';
import type { Exchange } from '../../http/server/server.ts';
import { securityHeaders } from '../guard/security-headers.ts';
import { type ApiDocument, renderReference } from './reference.ts';

/** Of what is searched for; the rest is left out. */
const MOST_CHARACTERS = 200;

/** The reference for people, `GET /api/docs`: one page without scripts, made from the OpenAPI document. `q` searches it. */
export function docsPage(exchange: Exchange, document: object): null {
  const search = (new URLSearchParams(exchange.query).get('q') ?? '').slice(0, MOST_CHARACTERS);
  sendWhole(exchange, 200, renderReference({ document: document as ApiDocument, search }), {
    ...securityHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  });
  return null;
}

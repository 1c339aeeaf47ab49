import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { ServerResponse } from './node-http.ts';

/** The header that keeps browsers from guessing what an answer is, and from running what an upstream put into it. */
export const noSniff = { 'x-content-type-options': 'nosniff' } as const;
const [[NAME, VALUE]] = Object.entries(noSniff) as [[string, string]];

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Node's response, which sends `noSniff` with every answer, whoever writes it. */
export class UnsniffedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, statusMessage?: string, headers?: Headers): this;
  override writeHead(status: number, message?: string | Headers, headers?: Headers): this {
    return typeof message === 'string'
      ? super.writeHead(status, message, unsniffed(headers))
      : super.writeHead(status, unsniffed(message));
  }
}

/** @param headers as an object, or flat: name, value, name, value … */
function unsniffed(headers: Headers = {}): Headers {
  if (!Array.isArray(headers)) return { ...headers, [NAME]: VALUE };
  return headers.some(isNoSniff) ? headers : [...headers, NAME, VALUE];
}

/** Most names are told apart by their length alone, for this is done for every answer. */
function isNoSniff(name: OutgoingHttpHeader, index: number): boolean {
  if (index % 2 === 1 || typeof name !== 'string' || name.length !== NAME.length) return false;
  return name.toLowerCase() === NAME;
}

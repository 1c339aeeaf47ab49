import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { sendWhole } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { plainBytes, type SiteFile, type SiteFiles } from './files.ts';
import { pageHeaders } from './headers.ts';
import { sitePath } from './paths.ts';

export interface DashboardInput {
  files: SiteFiles;
  /** Whether nobody can administer the gateway yet, so that the page asks for the setup code instead of a login. */
  needsSetup(): Promise<boolean>;
  /** Refuses a request that names another host, or while the dashboard is stopped. @throws GatewayError */
  admit(exchange: Exchange): void;
}

export interface Dashboard {
  /** Answers a path for which `isDashboardPath` holds. @throws GatewayError */
  serve(exchange: Exchange): Promise<void>;
}

/** Answers are few: two states of setup, and one for each depth of a path. */
const MAX_PAGES = 32;

/** The pages for people, which a browser makes of the management API. */
export function createDashboard({ admit, files, needsSetup }: DashboardInput): Dashboard {
  const pages = new Map<string, SiteFile>();

  const page = async (base: string): Promise<SiteFile | null> => {
    const setup = await needsSetup();
    const index = await files.read('index.html');
    if (index === null) return null;
    const key = `${index.etag} ${base} ${setup}`;
    const page = pages.get(key);
    if (page !== undefined) return page;
    const file = pageAt(index, base, setup);
    if (pages.size < MAX_PAGES) pages.set(key, file);
    return file;
  };
  return {
    async serve(exchange) {
      const { method = 'GET' } = exchange.request;
      if (method !== 'GET' && method !== 'HEAD')
        throw new GatewayError('method_not_allowed', 'Pages of the dashboard are read with GET', {
          headers: { allow: 'GET, HEAD' },
        });
      admit(exchange);
      const path = sitePath(exchange.path);
      switch (path.kind) {
        case 'moved':
          return redirect(exchange, 308, withQuery(path.location, exchange.query));
        case 'file': {
          const file = await files.read(path.path);
          if (file === null) throw new GatewayError('not_found', 'The dashboard has no such file');
          return sendFile(exchange, file);
        }
        case 'page': {
          const file = await page(path.base);
          return file === null ? sendNotBuilt(exchange) : sendFile(exchange, file);
        }
      }
    },
  };
}

/** Sends a browser to the dashboard, relative to where it is. */
export function leadToDashboard(exchange: Exchange): void {
  redirect(exchange, 302, 'dashboard');
}

/** Whether a request to `/` comes from a browser that wants a page. */
export function wantsPage({ accept }: IncomingHttpHeaders): boolean {
  return accept !== undefined && /\btext\/html\b/i.test(accept);
}

function redirect(exchange: Exchange, status: number, location: string): void {
  sendWhole(exchange, status, '', { ...pageHeaders, 'cache-control': 'no-cache', location });
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** The page with what depends on the request: the base of its relative addresses, and whether to set up first. */
function pageAt(index: SiteFile, base: string, setup: boolean): SiteFile {
  const html = plainBytes(index)
    .toString('utf8')
    .replace('<base href="./" />', `<base href="${base}" />`)
    .replace('data-setup="false"', `data-setup="${setup}"`);
  const bytes = Buffer.from(html);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  return {
    ...index,
    etag: `${index.etag.slice(0, -1)}-${base.length}${setup ? 's' : ''}"`,
    br: brotliCompressSync(bytes, quality),
    gzip: gzipSync(bytes),
  };
}

function sendFile(exchange: Exchange, file: SiteFile): void {
  const { headers } = exchange.request;
  const cache = file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache';
  const common = { ...pageHeaders, 'cache-control': cache, etag: file.etag, vary: 'accept-encoding' };
  if (matches(headers['if-none-match'], file.etag)) {
    sendWhole(exchange, 304, null, common);
    return;
  }
  const { bytes, coding } = encoded(file, headers['accept-encoding'] ?? '');
  sendWhole(exchange, 200, bytes, {
    ...common,
    'content-type': file.type,
    ...(coding === null ? {} : { 'content-encoding': coding }),
  });
}

/** Whether `If-None-Match` names the tag (weakly compared, RFC 9110, 13.1.2). */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}

/** The best coding that the client takes. `br;q=0` refuses one. */
function encoded(file: SiteFile, accepted: string): { bytes: Buffer; coding: 'br' | 'gzip' | null } {
  const codings = new Map(
    accepted.split(',').map((part) => {
      const [name = '', weight = ''] = part.split(';');
      return [name.trim().toLowerCase(), !/^\s*q=0(\.0*)?\s*$/.test(weight)] as const;
    }),
  );
  const takes = (name: string) => codings.get(name) ?? codings.get('*') ?? false;
  if (takes('br')) return { bytes: file.br, coding: 'br' };
  if (takes('gzip')) return { bytes: file.gzip, coding: 'gzip' };
  return { bytes: plainBytes(file), coding: null };
}

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Modelgate</title>
<h1>The dashboard is not built</h1>
<p>This gateway runs from a clone in which the dashboard was not built yet. Run this in the clone, then reload the page:</p>
<pre>npm run build:dashboard</pre>
<p>Everything else works: the model endpoints, the management API (<a href="/api/docs">reference</a>) and the command <code>gateway</code>.</p>
</html>
`;

function sendNotBuilt(exchange: Exchange): void {
  sendWhole(exchange, 503, notBuilt, {
    ...pageHeaders,
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
  });
}

import { gzipSync } from 'node:zlib';
import type { RequestLine } from './client.ts';

/** A request of somebody without a login, written to cost as much as it can. */
export interface Hostile {
  name: string;
  request: RequestLine;
}

type Place = readonly [method: string, path: string];
type Pair = readonly [name: string, value: string];

/** The limit of a request's line and headers is 64 KiB together, by default; the rest of them need some. */
const FILLED = 63_000;

/** What parsers of headers and paths stumble over: separators, quotes, escapes and the like. */
const units = [
  ' ',
  '\t',
  ' \t',
  ',',
  ', ',
  ';',
  '; ',
  '=',
  '"',
  '\\',
  '/',
  '.',
  ':',
  '-',
  '%',
  '%2f',
  '%25',
  '%ff',
  '&',
  '?',
  '#',
  '@',
  '[',
  '(',
  '*',
  '0',
  '1.',
  'a',
  'a=b;',
  'a=b,',
  'for=',
  '"\\',
  '1.1.1.1,',
  '127.0.0.1,',
  '::',
  'é',
  'v1',
  '/v1',
  '/v1beta',
  '/api',
  '/models',
  ':countTokens',
  'sk-',
  'json',
];
/** Those that a whole path or query can have, and fewer of them where there are many places. */
const pathUnits = ['/', '%2f', '%', ':', '&', 'a=b&', '/v1', '/v1beta', '/api', 'sk-', ':countTokens', '//x'];
const fewUnits = [' ', ',', '"', '%2f', 'a=b;', 'for=', '127.0.0.1,'];

/** Headers that some code of the gateway reads before it knows who asks. */
const headers = [
  'authorization',
  'x-auth-token',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'host',
  'origin',
  'sec-fetch-site',
  'forwarded',
  'x-forwarded-for',
  'accept',
  'accept-encoding',
  'content-type',
  'content-encoding',
  'content-length',
  'expect',
  'if-match',
  'if-none-match',
  'idempotency-key',
  'last-event-id',
  'x-gateway-role',
  'x-gateway-via',
  'anthropic-version',
  'user-agent',
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
  'x-other',
];
const fewHeaders = ['authorization', 'host', 'x-auth-token', 'x-api-key', 'x-forwarded-for', 'accept'];
/** How credentials begin; what is behind is read by code of its own. */
const schemes = ['Bearer ', 'Basic ', 'Basic YTpi'];

/** Where strangers can send to: a path and method of each kind of code behind it. */
export const strangersPlaces: readonly Place[] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/x'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/responses/compact'],
  ['GET', '/v1/responses/resp_x'],
  ['POST', '/v1/images/edits'],
  ['POST', '/v1/audio/transcriptions'],
  ['POST', '/v1beta/models/m:generateContent'],
  ['GET', '/v1beta/models'],
  ['POST', '/api/v1/editor/sk-x/api/chat'],
  ['GET', '/api/v1/vscode/sk-x/v1/models'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/metrics'],
  ['GET', '/nowhere'],
  ['GET', '/api'],
  ['GET', '/api/ping'],
  ['GET', '/api/hello'],
  ['GET', '/api/auth'],
  ['DELETE', '/api/auth'],
  ['POST', '/api/setup'],
  ['GET', '/api/setup'],
  ['GET', '/api/oauth/callback'],
  ['OPTIONS', '/api/keys'],
  ['PATCH', '/api/keys/x'],
  ['GET', '/api/live'],
  ['GET', '/api/docs'],
  ['GET', '/api/openapi.json'],
];
/** Those at which every header is filled with everything: one of each plane. */
const thorough: readonly Place[] = [
  ['POST', '/v1/messages'],
  ['GET', '/api/auth'],
];
const upgradePlace: Place = ['GET', '/v1/responses'];

/** Long, and with something else before and behind, so that who looks for an end does not find it at once. */
function filled(unit: string): string {
  return `x${unit.repeat(Math.floor(FILLED / Buffer.byteLength(unit, 'latin1')))}x`;
}

/** Every hostile head: long headers, paths and queries. `own` is the gateway's name, as `Host` has it. */
export function* hostileHeads(own: string): Iterable<Hostile> {
  for (const place of thorough)
    for (const header of headers)
      for (const unit of units)
        yield withHeaders(own, place, [[header, filled(unit)]], `${header}: ${unit}…`);
  for (const place of [...strangersPlaces, upgradePlace]) {
    for (const header of fewHeaders)
      for (const unit of fewUnits)
        yield withHeaders(own, place, [[header, filled(unit)]], `${header}: ${unit}…`);
    for (const scheme of schemes)
      for (const unit of fewUnits) {
        const pairs: Pair[] = [['authorization', scheme + filled(unit)]];
        yield withHeaders(own, place, pairs, `authorization: ${scheme}${unit}…`);
      }
    for (const name of ['', 'x-auth-token', 'x-forwarded-for', 'cookie', 'host'])
      yield withHeaders(own, place, manyHeaders(name), `1,900 headers ${name}`);
    for (const unit of pathUnits) {
      const [method, path] = place;
      const long = filled(unit);
      for (const target of [
        `${path}?${long}`,
        `${path}?key=${long}`,
        `${path}/${long}`,
        `/${long}${path}`,
        unit.repeat(FILLED / unit.length),
      ])
        yield withHeaders(own, [method, target.startsWith('/') ? target : `/${target}`], [], `many ${unit}`);
    }
  }
}

function withHeaders(own: string, [method, path]: Place, pairs: readonly Pair[], what: string): Hostile {
  const upgrades = method === upgradePlace[0] && path.startsWith(upgradePlace[1]) && !path.includes('resp_');
  const all: Pair[] = [
    ...(pairs.some(([name]) => name === 'host') ? [] : ([['host', own]] as const)),
    ...pairs,
  ];
  all.push(
    ...(upgrades
      ? ([
          ['connection', 'upgrade'],
          ['upgrade', 'websocket'],
        ] as const)
      : ([['connection', 'close']] as const)),
  );
  return {
    name: `${method} ${path.slice(0, 50)} with ${JSON.stringify(what)}`,
    request: { method, path, headers: all },
  };
}

/** Node keeps 2,000 headers. */
function manyHeaders(name: string): Pair[] {
  return Array.from({ length: 1900 }, (_, index) => [name === '' ? `x-${index}` : name, 'a, b']);
}

function long(length: number, unit: string): string {
  return unit.repeat(Math.floor(length / unit.length));
}

/** Documents that are costly to read, of a length. */
function documents(length: number): Readonly<Record<string, string>> {
  return {
    objects: `[${long(length, '{},')}{}]`,
    strings: `[${long(length, '"",')}""]`,
    'one text': JSON.stringify({ code: long(length, 'é') }),
    escapes: `{"code":"${long(length, '\\u0041')}"}`,
    names: `{${Array.from({ length: length / 12 }, (_, index) => `"k${index}":1`).join()}}`,
    depth: long(length, '['),
    blanks: long(length, ' '),
  };
}

/** The places at which every hostile body is tried: those that take one, and one of each way to answer without. */
const bodyPlaces: readonly Place[] = [
  ['POST', '/v1/messages'],
  ['POST', '/v1/audio/transcriptions'],
  ['GET', '/v1/models'],
  ['GET', '/healthz'],
  ['POST', '/nowhere'],
  ['POST', '/api/setup'],
  ['DELETE', '/api/auth'],
  ['GET', '/api/ping'],
  ['PATCH', '/api/keys/x'],
];

/** Every hostile body: large, compressed, in small pieces, and of a wrong length. */
export function* hostileBodies(own: string, places: readonly Place[] = bodyPlaces): Iterable<Hostile> {
  const chunked = { 'transfer-encoding': 'chunked' };
  const bodies: [name: string, headers: Readonly<Record<string, string>>, body: Buffer | string][] = [
    ['9 MB', {}, Buffer.alloc(9_000_000, 32)],
    ['9 MB in chunks', chunked, `fde8\r\n${long(65_000, 'a')}\r\n`.repeat(140)],
    ['8 MB in chunks of one byte', chunked, '1\r\na\r\n'.repeat(1_400_000)],
    ['chunks with extensions', chunked, `1;${long(8000, 'a=b;')}\r\na\r\n`.repeat(1000)],
    ['trailers', chunked, `0\r\n${'a: b\r\n'.repeat(10_000)}\r\n`],
    ['less than it says', { 'content-length': '8000' }, '{'],
  ];
  for (const [name, document] of Object.entries(documents(1_000_000))) {
    bodies.push([`1 MB of ${name}`, {}, document]);
    bodies.push([`1 MB of ${name}, gzip`, { 'content-encoding': 'gzip' }, gzipSync(document)]);
    bodies.push([`16 KB of ${name}`, {}, documents(16_000)[name] ?? '']);
  }
  for (const [method, path] of places)
    for (const [name, more, body] of bodies) {
      const given = { host: own, connection: 'close', 'content-type': 'application/json', ...more };
      yield { name: `${method} ${path} with ${name}`, request: { method, path, headers: given, body } };
    }
}

import type { IncomingHttpHeaders } from 'node:http';
import { codecs } from '../../codecs/index.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';

/** What a model path serves. */
export type Surface =
  /** `named`: the path names the model and says whether to stream (Gemini). */
  | { kind: 'relay'; method: 'POST'; format: WireFormat; named?: { model: string; stream: boolean } }
  /** A conversation of the responses format that is to become shorter. */
  | { kind: 'compact'; method: 'POST'; format: 'openai-responses' }
  /** A response that was kept. */
  | { kind: 'stored-response'; method: 'GET' | 'POST'; id: string; part: 'whole' | 'input_items' | 'cancel' }
  | { kind: 'count'; method: 'POST'; format: WireFormat; named?: { model: string } }
  | { kind: 'model-list'; method: 'GET' }
  /** What the key that asks has used. */
  | { kind: 'own-usage'; method: 'GET' }
  | { kind: 'model'; method: 'GET'; id: string }
  | { kind: 'gemini-models'; method: 'GET' }
  | { kind: 'gemini-model'; method: 'GET'; id: string }
  | { kind: 'ollama-version'; method: 'GET' }
  | { kind: 'ollama-tags'; method: 'GET' }
  | { kind: 'ollama-show'; method: 'POST' };

export interface Match {
  surface: Surface;
  /** The key that stands in the path of the editor alias; null elsewhere. */
  pathKey: string | null;
}

const surfaces: ReadonlyMap<string, Surface> = new Map<string, Surface>([
  ...codecs.flatMap(surfacesOf),
  ['/responses/compact', { kind: 'compact', method: 'POST', format: 'openai-responses' }],
  ['/models', { kind: 'model-list', method: 'GET' }],
  ['/usage', { kind: 'own-usage', method: 'GET' }],
]);

/** Where requests of a format are answered, and counted. */
function surfacesOf({ counting, format, path }: Codec): [string, Surface][] {
  if (path === null) return [];
  const requestSurface: [string, Surface] = [path, { kind: 'relay', method: 'POST', format }];
  if (counting === undefined) return [requestSurface];
  return [requestSurface, [`${path}${counting.path}`, { kind: 'count', method: 'POST', format }]];
}

/**
 * Ollama's own surface: the four paths that tools ask for, at the root as its server has them and under the editor
 * alias. Everything else below `/api` is the management API's, which has no collections of these names.
 */
const ollamaSurfaces: ReadonlyMap<string, Surface> = new Map<string, Surface>([
  ['/api/chat', { kind: 'relay', method: 'POST', format: 'ollama' }],
  ['/api/version', { kind: 'ollama-version', method: 'GET' }],
  ['/api/tags', { kind: 'ollama-tags', method: 'GET' }],
  ['/api/show', { kind: 'ollama-show', method: 'POST' }],
]);

/** The paths as most clients write them, found without any string work. */
const direct: ReadonlyMap<string, Match> = new Map(
  [...surfaces].map(([path, surface]) => [`/v1${path}`, { surface, pathKey: null }]),
);

const aliasPattern = /^\/api\/v1\/(?:editor|vscode)\/([^/]+)(\/.*)$/;
const modelsPrefix = '/models/';
const storedResponse = /^\/responses\/([^/]+)(?:\/(input_items|cancel))?$/;
const geminiVerbs = ['generateContent', 'streamGenerateContent', 'countTokens'] as const;
const openAiVersion = ['/v1'];
const versions = ['/v1', '/v1beta'];

/**
 * The surface of a path, or null. Tools get base URLs wrong in a few known ways, which are all understood:
 * no `/v1`, a doubled one, doubled or trailing slashes. The editor alias carries its key in the path.
 */
export function matchPath(path: string): Match | null {
  const exact = direct.get(path);
  if (exact !== undefined) return exact;
  const clean = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  const alias = aliasPattern.exec(clean);
  const rest = alias?.[2] ?? clean;
  const pathKey = alias?.[1] === undefined ? null : decoded(alias[1]);
  const surface = surfaceOf(rest) ?? ollamaSurfaces.get(rest);
  return surface === undefined ? null : { surface, pathKey };
}

function surfaceOf(path: string): Surface | undefined {
  const call = geminiCall(path);
  if (call !== null) {
    const { model, verb } = call;
    if (verb === 'countTokens') return { kind: 'count', method: 'POST', format: 'gemini', named: { model } };
    const named = { model, stream: verb === 'streamGenerateContent' };
    return { kind: 'relay', method: 'POST', format: 'gemini', named };
  }
  const google = belowGoogle(path);
  if (google === '/models') return { kind: 'gemini-models', method: 'GET' };
  if (google?.startsWith(modelsPrefix))
    return { kind: 'gemini-model', method: 'GET', id: decoded(google.slice(modelsPrefix.length)) };
  const bare = path.slice(versionsEnd(path, openAiVersion));
  if (bare.startsWith(modelsPrefix))
    return { kind: 'model', method: 'GET', id: decoded(bare.slice(modelsPrefix.length)) };
  return surfaces.get(bare) ?? storedSurface(bare);
}

/** Where the first segment begins, with its slash, that is none of `segments`. */
function versionsEnd(path: string, segments: readonly string[]): number {
  let at = 0;
  const isNext = (segment: string) => path.startsWith(segment, at) && isSegmentEnd(path, at + segment.length);
  for (let next = segments.find(isNext); next !== undefined; next = segments.find(isNext)) at += next.length;
  return at;
}

function isSegmentEnd(path: string, at: number): boolean {
  return at === path.length || path[at] === '/';
}

/** The end of the segment whose slash is at a place. */
function segmentEnd(path: string, slash: number): number {
  const next = path.indexOf('/', slash + 1);
  return next === -1 ? path.length : next;
}

/** What follows Google's version, alone or behind others: both are seen from real tools. Null where there is none. */
function belowGoogle(path: string): string | null {
  const at = versionsEnd(path, openAiVersion);
  return path.slice(at, segmentEnd(path, at)) === '/v1beta' ? path.slice(segmentEnd(path, at)) : null;
}

/** `/v1beta/models/MODEL:VERB`, whose version may be missing, doubled or another, and whose `models/` may be missing. */
function geminiCall(path: string): { model: string; verb: (typeof geminiVerbs)[number] } | null {
  const colon = path.lastIndexOf(':');
  const verb = geminiVerbs.find((exact) => exact === path.slice(colon + 1));
  if (colon === -1 || verb === undefined) return null;
  const below = path.slice(versionsEnd(path, versions), colon);
  const model = below.startsWith(modelsPrefix) ? below.slice(modelsPrefix.length) : below.slice(1);
  return below[0] !== '/' || model === '' ? null : { model: decoded(model), verb };
}

function storedSurface(path: string): Surface | undefined {
  const match = storedResponse.exec(path);
  if (match === null) return undefined;
  const id = decoded(match[1] ?? '');
  if (match[2] === 'cancel') return { kind: 'stored-response', method: 'POST', id, part: 'cancel' };
  return {
    kind: 'stored-response',
    method: 'GET',
    id,
    part: match[2] === undefined ? 'whole' : 'input_items',
  };
}

/** Few paths have what a key could stand behind, and every line of the access log asks. */
const mayHaveKey = /\/api\/|sk-/i;

/**
 * A path that may be logged or shown: the key of an editor alias is masked, whatever follows it, and whatever
 * looks like a key where the alias was misspelt.
 */
export function safePath(path: string): string {
  if (!mayHaveKey.test(path)) return path;
  return path
    .replace(/(\/api\/+v1\/+[^/]+\/+)[^/?]+/i, '$1[key]')
    .replace(/(?<=\/|%2f)sk-[^/?%]+/gi, '[key]');
}

const MAX_LOGGED_PATH = 200;

/** A path without a key, of bounded length. */
export function loggedPath(path: string): string {
  // Cut first, with room for keys: those of strangers have thousands of segments.
  return safePath(path.slice(0, 2 * MAX_LOGGED_PATH)).slice(0, MAX_LOGGED_PATH);
}

/**
 * The wire format in whose dialect an error for this path is written. Where several are spoken, the header that
 * all of Anthropic's clients send distinguishes them.
 */
export function dialectOf(path: string, headers: IncomingHttpHeaders = {}): WireFormat {
  const surface = matchPath(path)?.surface;
  if (surface !== undefined && 'format' in surface) return surface.format;
  if (belowGoogle(path) !== null || listsForGoogle(surface, headers)) return 'gemini';
  if (surface?.kind.startsWith('ollama-') || /^\/api\/v1\/[^/]+\/[^/]+\/api\//.test(path)) return 'ollama';
  const anthropic = headers['anthropic-version'] !== undefined || /\/messages(\/|$)/.test(path);
  return anthropic ? 'anthropic-messages' : 'openai-chat';
}

/** Whether models are listed for Google's clients: their SDK asks its `/v1` too, and always sends its own header. */
export function listsForGoogle(surface: Surface | undefined, headers: IncomingHttpHeaders): boolean {
  const lists = surface?.kind === 'model-list' || surface?.kind === 'model';
  return lists && headers['x-goog-api-key'] !== undefined && headers['anthropic-version'] === undefined;
}

/** Whether a path is one of the model endpoints. */
export function isModelPath(path: string): boolean {
  return matchPath(path) !== null;
}

/** The methods that a path serves, for `Allow` (RFC 9110, 10.2.1); null where nothing is served. */
export function methodsOf(path: string): string | null {
  const surface = matchPath(path)?.surface;
  return surface === undefined ? null : methodsServed(surface).join(', ');
}

/** The methods of a surface, the one to name first in front. */
export function methodsServed(surface: Surface): string[] {
  const methods = surface.method === 'GET' ? ['GET', 'HEAD'] : [surface.method];
  return surface.kind === 'stored-response' && surface.part === 'whole' ? [...methods, 'DELETE'] : methods;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

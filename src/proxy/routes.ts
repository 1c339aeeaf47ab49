import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '../codecs/model.ts';

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
  ['/chat/completions', { kind: 'relay', method: 'POST', format: 'openai-chat' }],
  ['/responses', { kind: 'relay', method: 'POST', format: 'openai-responses' }],
  ['/completions', { kind: 'relay', method: 'POST', format: 'openai-completions' }],
  ['/embeddings', { kind: 'relay', method: 'POST', format: 'openai-embeddings' }],
  ['/images/generations', { kind: 'relay', method: 'POST', format: 'openai-images' }],
  ['/images/edits', { kind: 'relay', method: 'POST', format: 'openai-image-edits' }],
  ['/audio/speech', { kind: 'relay', method: 'POST', format: 'openai-speech' }],
  ['/audio/transcriptions', { kind: 'relay', method: 'POST', format: 'openai-transcriptions' }],
  ['/audio/translations', { kind: 'relay', method: 'POST', format: 'openai-translations' }],
  ['/moderations', { kind: 'relay', method: 'POST', format: 'openai-moderations' }],
  ['/rerank', { kind: 'relay', method: 'POST', format: 'rerank' }],
  ['/messages', { kind: 'relay', method: 'POST', format: 'anthropic-messages' }],
  ['/messages/count_tokens', { kind: 'count', method: 'POST', format: 'anthropic-messages' }],
  ['/responses/compact', { kind: 'compact', method: 'POST', format: 'openai-responses' }],
  ['/responses/input_tokens', { kind: 'count', method: 'POST', format: 'openai-responses' }],
  ['/models', { kind: 'model-list', method: 'GET' }],
]);

/** Ollama's own surface. It stands under the editor alias alone, for `/api` is the management API's. */
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
/** Google's version, alone or behind another one, and `models/` left out: both are seen from real tools. */
const geminiPrefix = /^(?:\/v1)*\/v1beta(?=\/|$)/;
const geminiCall =
  /^(?:\/v1(?:beta)?)*(?:\/models)?\/(.+):(generateContent|streamGenerateContent|countTokens)$/;

/**
 * The surface of a path, or null. Tools get base URLs wrong in a few known ways, which are all understood:
 * no `/v1`, a doubled one, doubled or trailing slashes. The editor alias carries its key in the path.
 */
export function matchPath(path: string): Match | null {
  const known = direct.get(path);
  if (known !== undefined) return known;
  const clean = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  const alias = aliasPattern.exec(clean);
  const rest = alias?.[2] ?? clean;
  const pathKey = alias?.[1] === undefined ? null : decoded(alias[1]);
  const surface = surfaceOf(rest) ?? (pathKey === null ? undefined : ollamaSurfaces.get(rest));
  return surface === undefined ? null : { surface, pathKey };
}

function surfaceOf(path: string): Surface | undefined {
  const call = geminiCall.exec(path);
  if (call !== null) {
    const model = decoded(call[1] ?? '');
    if (call[2] === 'countTokens')
      return { kind: 'count', method: 'POST', format: 'gemini', named: { model } };
    const named = { model, stream: call[2] === 'streamGenerateContent' };
    return { kind: 'relay', method: 'POST', format: 'gemini', named };
  }
  const google = path.replace(geminiPrefix, '');
  if (google !== path) {
    if (google === '/models') return { kind: 'gemini-models', method: 'GET' };
    if (google.startsWith(modelsPrefix))
      return { kind: 'gemini-model', method: 'GET', id: decoded(google.slice(modelsPrefix.length)) };
  }
  const bare = path.replace(/^(?:\/v1)+(?=\/|$)/, '');
  if (bare.startsWith(modelsPrefix))
    return { kind: 'model', method: 'GET', id: decoded(bare.slice(modelsPrefix.length)) };
  return surfaces.get(bare) ?? storedSurface(bare);
}

function storedSurface(path: string): Surface | undefined {
  const found = storedResponse.exec(path);
  if (found === null) return undefined;
  const id = decoded(found[1] ?? '');
  if (found[2] === 'cancel') return { kind: 'stored-response', method: 'POST', id, part: 'cancel' };
  return {
    kind: 'stored-response',
    method: 'GET',
    id,
    part: found[2] === undefined ? 'whole' : 'input_items',
  };
}

/**
 * A path that may be logged or shown: the key of an editor alias is masked, whatever follows it, and whatever
 * looks like a key where the alias was misspelt.
 */
export function safePath(path: string): string {
  return path
    .replace(/(\/api\/+v1\/+[^/]+\/+)[^/?]+/i, '$1[key]')
    .replace(/(?<=\/|%2f)sk-[^/?%]+/gi, '[key]');
}

/**
 * The wire format in whose dialect an error for this path is written. Where several are spoken, the header that
 * all of Anthropic's clients send tells them apart.
 */
export function dialectOf(path: string, headers: IncomingHttpHeaders = {}): WireFormat {
  const surface = matchPath(path)?.surface;
  if (surface !== undefined && 'format' in surface) return surface.format;
  if (geminiPrefix.test(path)) return 'gemini';
  if (surface?.kind.startsWith('ollama-') || /^\/api\/v1\/[^/]+\/[^/]+\/api\//.test(path)) return 'ollama';
  const anthropic = headers['anthropic-version'] !== undefined || /\/messages(\/|$)/.test(path);
  return anthropic ? 'anthropic-messages' : 'openai-chat';
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

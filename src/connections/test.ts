import { request } from 'undici';
import type { Provider } from '../providers/provider.ts';
import { upstreamUrl } from '../providers/url.ts';
import { describeAnswer, describeFailure } from './diagnosis.ts';
import type { OpenConnection } from './schema.ts';

/** How a test of a connection went. `models` is what the upstream listed, if it has a list. */
export interface ConnectionTest {
  valid: boolean;
  /** A sentence with cause and fix, or null. Never holds the credential. */
  error: string | null;
  statusCode: number | null;
  latencyMs: number;
  models: string[] | null;
}

export interface TestOptions {
  /** For the whole exchange. */
  timeoutMs: number;
  /** Monotonic milliseconds. */
  clock?: () => number;
}

/** A list of models is never longer than this in practice (OpenRouter: 2 MB). */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Asks the upstream for its models, or, where it has no list, for one token of the default model. Proves that
 * the address answers and that the credential is taken. Never throws.
 */
export async function testConnection(
  connection: OpenConnection,
  provider: Provider,
  { timeoutMs, clock = () => performance.now() }: TestOptions,
): Promise<ConnectionTest> {
  const start = clock();
  const failed = (error: string, statusCode: number | null = null): ConnectionTest => ({
    valid: false,
    error,
    statusCode,
    latencyMs: clock() - start,
    models: null,
  });
  if (provider.category === 'demo') {
    return { valid: true, error: null, statusCode: null, latencyMs: 0, models: ['echo', 'tools'] };
  }
  const { issues } = validateConnection(connection, provider);
  const issue = issues[0];
  if (issue !== undefined) return failed(issue);
  const probe = probeOf(connection, provider);
  if (probe === null) return failed(`${provider.name} lists no models: name one to try with --default-model`);
  try {
    const { body, headers, statusCode } = await request(probe.url, {
      method: probe.body === null ? 'GET' : 'POST',
      headers: probe.headers,
      body: probe.body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await bounded(body);
    const type = String(headers['content-type'] ?? '');
    const models = statusCode === 200 && probe.body === null ? modelsIn(text) : null;
    if (statusCode === 200 && (probe.body !== null || models !== null)) {
      return { valid: true, error: null, statusCode, latencyMs: clock() - start, models };
    }
    const said = withoutCredential(text, connection.credential);
    return failed(describeAnswer({ provider, url: probe.url, statusCode, type, said }), statusCode);
  } catch (error) {
    return failed(describeFailure(error as Error, probe.url, timeoutMs));
  }
}

/** What can be said of a connection without asking anyone: `issues` keep it from working, `warnings` do not. */
export function validateConnection(
  connection: OpenConnection,
  provider: Provider,
): { valid: boolean; issues: string[]; warnings: string[] } {
  const issues: string[] = [];
  const warnings: string[] = [];
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  const path = provider.modelsPath ?? Object.values(provider.formats)[0] ?? '/';
  if (baseUrl === null) issues.push('it has no base URL: add it again with --base-url');
  else {
    try {
      upstreamUrl(baseUrl, path, Object.values(provider.formats));
    } catch (error) {
      issues.push((error as Error).message);
    }
    if (baseUrl.startsWith('http://') && !isNear(baseUrl))
      warnings.push('its base URL is plain http: the credential travels unencrypted');
  }
  const needsKey = provider.auth.kind !== 'none' && provider.auth.optional !== true;
  if (connection.authType === 'api-key' && connection.credential === null) {
    issues.push(
      'its stored credential cannot be decrypted with the current STORAGE_ENCRYPTION_KEY: enter it again',
    );
  } else if (needsKey && connection.credential === null) {
    issues.push(
      `${provider.name} needs an API key: add it again with --api-key-env ${provider.keyVariables[0] ?? 'VARIABLE'}`,
    );
  }
  if (connection.credential !== null && /[^\x21-\x7e]/.test(connection.credential)) {
    issues.push('its API key has blanks, line ends or other characters that no key has: enter it again');
  }
  return { valid: issues.length === 0, issues, warnings };
}

interface Probe {
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

function probeOf(connection: OpenConnection, provider: Provider): Probe | null {
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  const paths = Object.values(provider.formats);
  const first = Object.entries(provider.formats)[0];
  if (baseUrl === null || first === undefined) return null;
  const headers: Record<string, string> = { accept: 'application/json', ...provider.headers };
  const format = provider.formats['openai-chat'] !== undefined ? 'openai-chat' : 'anthropic-messages';
  const auth =
    provider.modelsPath === null ? (provider.formatAuth?.[format] ?? provider.auth) : provider.auth;
  if (connection.credential !== null) {
    if (auth.kind === 'bearer') headers['authorization'] = `Bearer ${connection.credential}`;
    if (auth.kind === 'header') headers[auth.name] = connection.credential;
  }
  if (provider.modelsPath !== null)
    return { url: upstreamUrl(baseUrl, provider.modelsPath, paths), headers, body: null };
  const model = connection.defaultModel ?? provider.suggestedModel;
  const path = provider.formats[format];
  if (model === null || path === undefined) return null;
  headers['content-type'] = 'application/json';
  const body = JSON.stringify({ model, max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] });
  return { url: upstreamUrl(baseUrl, path, paths), headers, body };
}

/** Ids in `{data:[{id}]}`, `{models:[{id|name}]}` or a bare list of those; null when it is none of them. */
function modelsIn(text: string): string[] | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const list = Array.isArray(json) ? json : isObject(json) ? (json['data'] ?? json['models']) : null;
  if (!Array.isArray(list)) return null;
  const ids = list.flatMap((item: unknown) => {
    const id = isObject(item) ? (item['id'] ?? item['name']) : item;
    return typeof id === 'string' && id !== '' ? [id.replace(/^models\//, '')] : [];
  });
  return [...new Set(ids)];
}

async function bounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('its answer is larger than any list of models');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function withoutCredential(text: string, credential: string | null): string {
  return credential === null ? text : text.replaceAll(credential, '[redacted]');
}

function isNear(url: string): boolean {
  return /^http:\/\/(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|[^./]+(:|\/|$))/.test(
    url,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

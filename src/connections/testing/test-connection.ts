import { GatewayError } from '../../lib/error.ts';
import { withoutSecrets } from '../../lib/secrets/secrets.ts';
import type { Provider } from '../../providers/provider.ts';
import { upstreamUrl } from '../../providers/url.ts';
import { secretsOf } from '../accounts/account.ts';
import type { OpenConnection } from '../schema.ts';
import { type AskOptions, ask } from './ask.ts';
import { describeAnswer, describeFailure } from './diagnosis.ts';
import { probeRequest } from './probe-request.ts';

/** How a test of a connection went. `models` is what the upstream listed, if it has a list. */
export interface ConnectionTest {
  valid: boolean;
  /** A sentence with cause and fix, or null. Never holds the credential. */
  error: string | null;
  statusCode: number | null;
  latencyMs: number;
  models: string[] | null;
}

export interface TestOptions extends AskOptions {
  /** Monotonic milliseconds. */
  clock?: () => number;
  /** Whether the default model may be asked for one token where the upstream serves no list of models. */
  mayAskModel?: boolean;
}

/**
 * Asks the upstream for its models, or, where it has no list, for one token of the default model. Proves that
 * the address answers and that the credential is taken. Never throws.
 */
export async function testConnection(
  connection: OpenConnection,
  provider: Provider,
  {
    timeoutMs,
    tokens,
    clock = () => performance.now(),
    listening = () => null,
    mayAskModel = false,
  }: TestOptions,
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
  let probe = probeRequest(connection, provider);
  if (probe === null) return failed(`${provider.name} lists no models: name one to try with --default-model`);
  try {
    const options = { timeoutMs, tokens, listening };
    let answer = await ask(probe, connection, provider, options);
    const direct = mayAskModel ? probeRequest(connection, provider, { list: false }) : null;
    if (direct !== null && probe.body === null && (answer.statusCode === 404 || answer.statusCode === 405)) {
      probe = direct;
      answer = await ask(probe, connection, provider, options);
    }
    const { statusCode, text, type } = answer;
    const models = statusCode === 200 && probe.body === null ? modelsIn(text) : null;
    if (statusCode === 200 && (probe.body !== null || models !== null)) {
      return { valid: true, error: null, statusCode, latencyMs: clock() - start, models };
    }
    const errorText = withoutSecrets(text, [...secretsOf(connection), ...tokens.issued(connection)]);
    return failed(describeAnswer({ provider, url: probe.url, statusCode, type, errorText }), statusCode);
  } catch (error) {
    if (error instanceof GatewayError) return failed(error.message);
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
  if (connection.account?.kind === 'oauth' && connection.account.grant === null)
    issues.push(connection.lastError ?? 'it has no login yet');
  const needsKey = provider.auth.kind !== 'none' && provider.auth.optional !== true;
  if (connection.authType !== 'none' && connection.credential === null) {
    issues.push(
      'its stored credential cannot be decrypted with the current STORAGE_ENCRYPTION_KEY: enter it again',
    );
  } else if (needsKey && connection.credential === null) {
    issues.push(
      `${provider.name} needs an API key: add it again with --api-key-env ${provider.keyVariables[0] ?? 'VARIABLE'}`,
    );
  }
  if (
    connection.account === undefined &&
    connection.credential !== null &&
    /[^\x21-\x7e]/.test(connection.credential)
  ) {
    issues.push('its API key has blanks, line ends or other characters that no key has: enter it again');
  }
  return { valid: issues.length === 0, issues, warnings };
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

function isNear(url: string): boolean {
  return /^http:\/\/(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|[^./]+(:|\/|$))/.test(
    url,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

import { request } from 'undici';
import { allProviders } from '../../providers/index.ts';
import type { Provider } from '../../providers/provider.ts';
import { upstreamUrl } from '../../providers/url.ts';
import type { Context } from '../context.ts';

/** A provider that this machine already knows about: to be offered, never used silently. */
export type Discovery =
  | { kind: 'environment'; provider: Provider; variable: string }
  | { kind: 'local'; provider: Provider; url: string };

/** A server on this machine that is up answers its model list at once. */
const probeTimeoutMs = 700;

/** Providers with a key in the environment, and local model servers that answer on their well-known ports. */
export async function discover(context: Context): Promise<Discovery[]> {
  const fromEnvironment: Discovery[] = [];
  const offered = new Set<string>();
  for (const provider of allProviders()) {
    const [variable] = await context.setVariables(provider.keyVariables);
    // Several plans of one vendor name the same variable; the first of them stands for all.
    if (variable === undefined || offered.has(variable)) continue;
    offered.add(variable);
    fromEnvironment.push({ kind: 'environment', provider, variable });
  }
  const local = await Promise.all(
    allProviders()
      .filter(({ localPort }) => localPort !== undefined)
      .map(probe),
  );
  return [...fromEnvironment, ...local.filter((found) => found !== null)];
}

async function probe(provider: Provider): Promise<Discovery | null> {
  if (provider.baseUrl === null || provider.modelsPath === null) return null;
  const url = upstreamUrl(provider.baseUrl, provider.modelsPath);
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
    const document: unknown = await body.json();
    const isList = typeof document === 'object' && document !== null && 'data' in document;
    return statusCode === 200 && isList ? { kind: 'local', provider, url: provider.baseUrl } : null;
  } catch {
    // Nobody there, or a program that does not list models: nothing to offer.
    return null;
  }
}

export function discoveryText(found: Discovery): string {
  return found.kind === 'environment'
    ? `${found.provider.name}, with the key in ${found.variable}`
    : `${found.provider.name}, running at ${found.url}`;
}

export function discoveryDocument(found: Discovery) {
  return found.kind === 'environment'
    ? { provider: found.provider.id, source: 'environment', variable: found.variable }
    : { provider: found.provider.id, source: 'local', url: found.url };
}

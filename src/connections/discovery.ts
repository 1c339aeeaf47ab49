import { createOutboundAgent, type OutboundAgent } from '../http/outbound/agent.ts';
import { allProviders } from '../providers/index.ts';
import type { Provider } from '../providers/provider.ts';
import { upstreamUrl } from '../providers/url.ts';

/** A provider that is already set up on this machine: to be offered, never used silently. */
export type Discovery =
  | { kind: 'environment'; provider: Provider; variable: string }
  | { kind: 'local'; provider: Provider; url: string };

/** Which of these environment variables are set. */
export type SetVariables = (names: readonly string[]) => readonly string[] | Promise<readonly string[]>;

/** A server on this machine that is up answers its model list at once. */
const PROBE_MS = 700;

/** Providers with a key in the environment, and local model servers that answer on their well-known ports. */
export async function discover(setVariables: SetVariables): Promise<Discovery[]> {
  const fromEnvironment: Discovery[] = [];
  const offered = new Set<string>();
  for (const provider of allProviders()) {
    const [variable] = await setVariables(provider.keyVariables);
    // Several plans of one vendor name the same variable; the first of them stands for all.
    if (variable === undefined || offered.has(variable)) continue;
    offered.add(variable);
    fromEnvironment.push({ kind: 'environment', provider, variable });
  }
  const agent = createOutboundAgent();
  try {
    const servers = allProviders().filter(({ localPort }) => localPort !== undefined);
    const local = await Promise.all(servers.map((provider) => probe(provider, agent)));
    return [...fromEnvironment, ...local.filter((discovery) => discovery !== null)];
  } finally {
    await agent.destroy();
  }
}

async function probe(provider: Provider, agent: OutboundAgent): Promise<Discovery | null> {
  if (provider.baseUrl === null || provider.modelsPath === null) return null;
  const url = upstreamUrl(provider.baseUrl, provider.modelsPath);
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const { body, statusCode } = await agent.request(url, { method: 'GET', signal });
    const document: unknown = await body.json();
    const isList = typeof document === 'object' && document !== null && 'data' in document;
    return statusCode === 200 && isList ? { kind: 'local', provider, url: provider.baseUrl } : null;
  } catch {
    // Nobody there, or a program that does not list models: nothing to offer.
    return null;
  }
}

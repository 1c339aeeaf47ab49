import type { Discovery } from '../../connections/discovery.ts';

export function discoveryText(discovery: Discovery): string {
  return discovery.kind === 'environment'
    ? `${discovery.provider.name}, with the key in ${discovery.variable}`
    : `${discovery.provider.name}, running at ${discovery.url}`;
}

export function discoveryDocument(discovery: Discovery) {
  return discovery.kind === 'environment'
    ? { provider: discovery.provider.id, source: 'environment', variable: discovery.variable }
    : { provider: discovery.provider.id, source: 'local', url: discovery.url };
}

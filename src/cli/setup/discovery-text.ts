import type { Discovery } from '../../connections/discovery.ts';

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

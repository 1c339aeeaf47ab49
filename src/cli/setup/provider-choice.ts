import { baseUrlFromParameters, parametersOf } from '../../connections/base-url.ts';
import { checkBaseUrl } from '../../connections/checked-input.ts';
import { allProviders, findProvider } from '../../providers/index.ts';
import { isBuiltIn, type Provider } from '../../providers/provider.ts';
import { usageError } from '../terminal/failure.ts';

/** @throws a usage error that names similar providers */
export function providerOf(id: string): Provider {
  const provider = findProvider(id) ?? findProvider(id.toLowerCase());
  if (provider !== undefined) return provider;
  const near = allProviders()
    .filter(
      (candidate) => candidate.modelsDev === id || candidate.id.includes(id) || id.includes(candidate.id),
    )
    .map((candidate) => candidate.id);
  const hint =
    near.length > 0
      ? `Did you mean ${near.slice(0, 3).join(' or ')}?`
      : '`gateway providers available` lists them';
  throw usageError(`There is no provider "${id}". ${hint}`);
}

/** The demo answers without a connection, so that there is nothing to add. */
export function connectable(id: string): Provider {
  const provider = providerOf(id);
  if (!isBuiltIn(provider)) return provider;
  if (provider.category === 'agent')
    throw usageError('Agents need no connection: `gateway agents enable ID`, then ask for acp/ID');
  throw usageError('The demo is built in and needs no connection: ask for demo/echo or demo/tools');
}

/** True when a connection to `provider` cannot work without a key. */
export function needsKey(provider: Provider): boolean {
  return provider.auth.kind !== 'none' && provider.auth.optional !== true;
}

/**
 * The base URL of a new connection, or null for the provider's own. `flag` is what to name in a refusal.
 * @throws a usage error when the provider has no address of its own, GatewayError when the text is no usable URL
 */
export function baseUrlFor(
  provider: Provider,
  flagValue: string | undefined,
  flag: string,
  credential: string | null = null,
): string | null {
  if (flagValue === undefined) {
    if (provider.baseUrl !== null) return null;
    // A document may name its address itself, which is seen when it is read.
    if (provider.baseUrlOf !== undefined && credential?.startsWith('{')) return null;
    const parameters = parametersOf(provider).map((name) => `--parameter ${name}=…`);
    const either = parameters.length === 0 ? '' : `${parameters.join(' ')}, or `;
    throw usageError(`${provider.name} has no address of its own: give ${either}${flag}`);
  }
  // What a running gateway of this machine is found to be, it finds itself.
  checkBaseUrl(flagValue, () => null);
  return flagValue.trim();
}

/** The parameters of an address from `NAME=VALUE` texts. @throws a usage error for what is none */
export function baseUrlWithParameters(provider: Provider, texts: readonly string[]): string {
  const pairs = texts.map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
    throw usageError(`--parameter takes NAME=VALUE, not ${text}`);
  });
  return baseUrlFromParameters(provider, Object.fromEntries(pairs));
}

import { GatewayError } from '../lib/error.ts';
import type { Provider } from '../providers/provider.ts';

/** The names of the parameters in a provider's address; none where it has an address or needs a whole one. */
export function parametersOf({ baseUrlOf = '' }: Pick<Provider, 'baseUrlOf'>): string[] {
  return [...baseUrlOf.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** A name of an account, a region or a host. More would make another address of the pattern. */
const value = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/**
 * A provider's address with its parameters put in; null where one is not among `values`.
 * @throws GatewayError `invalid_request` for a value that is no plain name, and for a parameter that it does not have
 */
export function baseUrlWith(
  provider: Pick<Provider, 'baseUrlOf' | 'name'>,
  values: Readonly<Record<string, unknown>>,
): string | null {
  const names = parametersOf(provider);
  const missing = names.filter((name) => typeof values[name] !== 'string');
  if (provider.baseUrlOf === undefined || missing.length > 0) return null;
  return provider.baseUrlOf.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(values[name]).trim();
    if (value.test(text)) return text;
    throw invalid(
      `${name} is not a plain name of letters, digits, dots and dashes: leave out https:// and slashes`,
    );
  });
}

/**
 * The same for parameters from input.
 * @throws GatewayError `invalid_request` also for one that is missing or that the provider does not have
 */
export function baseUrlFromParameters(
  provider: Pick<Provider, 'baseUrlOf' | 'name'>,
  values: Readonly<Record<string, string>>,
): string {
  const names = parametersOf(provider);
  if (names.length === 0) throw invalid(`the address of ${provider.name} has no parameters`);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`${provider.name} has ${names.join(' and ')}, and no ${unknown}`);
  const url = baseUrlWith(provider, values);
  if (url !== null) return url;
  throw invalid(`${provider.name} needs ${names.join(' and ')}`);
}

function invalid(problem: string): GatewayError {
  return new GatewayError('invalid_request', `base_url_parameters: ${problem}`, {
    param: 'base_url_parameters',
  });
}

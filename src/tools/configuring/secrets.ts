import { hasSecretForm, withoutSecrets } from '../../lib/secrets/secrets.ts';
import { isObject, type Json } from '../files/value.ts';

const secretName = /(api[_-]?key|token|secret|password|credential|authorization|^key$)/i;
/** Shorter texts are no secrets, and would be found in other words. */
const SHORTEST = 8;

/** The text with every secret of the values in it replaced, so that a diff of a tool's file can be shown. */
export function redacted(text: string, secrets: readonly string[]): string {
  const long = secrets.filter((secret) => secret.length >= SHORTEST);
  return withoutSecrets(text, long, maskOf);
}

/** The address without a password in it. */
export function displayAddress(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//…@');
}

/** Texts under names that secrets have, or that look like keys. References to environment variables are none. */
export function secretsIn(value: Json, name = ''): string[] {
  if (typeof value === 'string') {
    const isSecret = hasSecretForm(value) || (secretName.test(name) && !isReference(value));
    return isSecret ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, name));
  return isObject(value) ? Object.entries(value).flatMap(([key, item]) => secretsIn(item, key)) : [];
}

function isReference(text: string): boolean {
  return /^(\$\{?\{?.*|\{(env|file):.*\}|[A-Z][A-Z0-9]*(_[A-Z0-9]+)+)$/.test(text);
}

/** A gateway key as it was shown for display: with stars or an ellipsis in it. Such a text is never written. */
export function isMasked(key: string): boolean {
  return /[*•…]|\.\.\./.test(key);
}

/** What is shown of a secret: its ends. */
export function maskOf(secret: string): string {
  return `${secret.slice(0, secret.startsWith('sk-') ? 3 : 0)}…${secret.slice(-4)}`;
}

import { createPrivateKey } from 'node:crypto';
import type { z } from 'zod';
import { GatewayError } from '../../lib/error.ts';
import type { AccountKind, Provider } from '../../providers/provider.ts';
import { checkedUrl } from '../oauth/endpoint.ts';
import {
  type Account,
  awsKeys,
  clientCredentials,
  type OAuthAccount,
  oauthAccount,
  serviceAccount,
} from './schema.ts';

const documents = {
  'service-account': serviceAccount,
  'client-credentials': clientCredentials,
  'aws-keys': awsKeys,
} as const satisfies Record<AccountKind, z.ZodObject>;

/** Reads back what was stored of a connection; null for a plain key, and for what no longer makes sense. */
export function storedAccount(authType: string, text: string): Account | null {
  const json = parsed(text);
  if (authType === 'oauth') return oauthAccount.safeParse(json).data ?? null;
  if (!isAccountKind(authType)) return null;
  return read(authType, json).account;
}

/** The text of a login, to be encrypted. */
export function accountText(account: OAuthAccount): string {
  return JSON.stringify(account);
}

/**
 * What kind of credential an owner gave: a JSON document is one of those that the provider takes beside keys.
 * @throws GatewayError that names the wrong field, and never repeats a value
 */
export function accountOf(provider: Provider, text: string): Account | null {
  if (!text.trimStart().startsWith('{')) return null;
  const kinds = Object.keys(provider.accounts ?? {}).filter(isAccountKind);
  if (kinds.length === 0)
    throw refused(`${provider.name} takes a plain key, and this is a JSON document: give the key alone`);
  const json = parsed(text);
  if (json === null) throw refused('it begins like JSON but is not valid: give the whole document');
  const readings = kinds.map((kind) => ({ kind, ...read(kind, json) }));
  const fits = readings.find(({ account }) => account !== null);
  if (fits?.account) return checked(fits.account);
  // The one that it has most of is the one that was meant.
  const [nearest] = readings.sort((a, b) => a.issues.length - b.issues.length);
  throw refused(`as ${nearest?.kind} it is not complete: ${nearest?.issues.join('; ')}`);
}

/** @throws GatewayError for what its schema cannot tell */
function checked(account: Account): Account {
  switch (account.kind) {
    case 'service-account':
      checkedUrl(account.fields.token_uri, 'token_uri');
      checkPrivateKey(account.fields.private_key);
      return account;
    case 'client-credentials':
      if (account.fields.token_url !== undefined) checkedUrl(account.fields.token_url, 'token_url');
      return account;
    case 'aws-keys':
    case 'oauth':
      return account;
  }
}

function checkPrivateKey(text: string): void {
  try {
    if (createPrivateKey(text).asymmetricKeyType === 'rsa') return;
  } catch {
    // What is wrong with it might quote it.
  }
  throw refused('its private_key is not a readable RSA key: give the key file as Google made it');
}

function read(kind: AccountKind, json: unknown): { account: Account | null; issues: string[] } {
  const result = documents[kind].safeParse(json);
  if (result.success) return { account: { kind, fields: result.data } as Account, issues: [] };
  const issues = result.error.issues.map(({ message, path }) => {
    const name = path.join('.') || 'it';
    const fieldValue = path.reduce<unknown>((value, key) => Object(value)[key], json);
    return fieldValue === undefined ? `${name} is missing` : `${name}: ${message}`;
  });
  return { account: null, issues };
}

function isAccountKind(kind: string): kind is AccountKind {
  return Object.hasOwn(documents, kind);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refused(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The credential cannot be used: ${problem}`, {
    param: 'api_key',
  });
}

/** Texts that must not be seen in anything that is said about a connection. */
export function secretsOf({
  account,
  credential,
}: {
  account?: Account;
  credential: string | null;
}): string[] {
  if (credential === null) return [];
  switch (account?.kind) {
    case undefined:
      return [credential];
    case 'oauth': {
      const { client, grant } = account;
      return [client.clientSecret, grant?.accessToken, grant?.refreshToken].filter((one) => one != null);
    }
    case 'service-account':
      return [account.fields.private_key];
    case 'client-credentials':
      return [account.fields.client_secret];
    case 'aws-keys':
      return [account.fields.secret_access_key, account.fields.session_token].filter((one) => one != null);
  }
}

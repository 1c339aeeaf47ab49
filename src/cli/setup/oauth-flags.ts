import type { NewConnectionInput } from '../../connections/schema.ts';
import type { Flag, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../terminal/failure.ts';

/** How a login at a provider is described (RFC 6749). */
export const oauthFlags: readonly Flag[] = [
  {
    name: 'auth',
    value: 'METHOD',
    choices: ['api-key', 'oauth'],
    summary: '`oauth`: people log in, with `provider login`, instead of a key',
  },
  { name: 'client-id', value: 'ID', summary: 'oauth: the client that is registered at the provider' },
  {
    name: 'client-secret-env',
    value: 'VAR',
    summary: 'oauth: read its secret from this variable, where it has one',
  },
  { name: 'client-secret-stdin', summary: 'oauth: read its secret from stdin' },
  { name: 'issuer', value: 'URL', summary: 'oauth: publishes the endpoints that are not given' },
  { name: 'authorization-url', value: 'URL', summary: 'oauth: the page where people log in' },
  { name: 'token-url', value: 'URL', summary: 'oauth: the token endpoint' },
  { name: 'device-url', value: 'URL', summary: 'oauth: the endpoint that gives device codes' },
  { name: 'scopes', value: 'LIST', summary: 'oauth: scopes to ask for, separated by blanks or commas' },
  {
    name: 'audience',
    value: 'NAME',
    summary: 'oauth: the API that the token is for, where the server requires it',
  },
  { name: 'redirect-uri', value: 'URL', summary: 'oauth: as registered, where it is not a loopback address' },
];

/** The login that the flags describe; null for none. @throws a usage error for flags that do not go together */
export async function readOAuth(
  options: Options,
  context: Context,
): Promise<NonNullable<NewConnectionInput['oauth']> | null> {
  const clientId = options.text('client-id');
  if (options.text('auth') !== 'oauth') {
    const oauthFlag = oauthFlags.find(
      ({ name, value }) => name !== 'auth' && value !== undefined && options.text(name) !== undefined,
    );
    if (oauthFlag !== undefined) throw usageError(`--${oauthFlag.name} belongs to --auth oauth`);
    return null;
  }
  if (clientId === undefined)
    throw usageError('--auth oauth needs --client-id, as it is registered at the provider');
  const scopes = options.text('scopes');
  const members = {
    issuer: options.text('issuer'),
    authorization_url: options.text('authorization-url'),
    token_url: options.text('token-url'),
    device_url: options.text('device-url'),
    audience: options.text('audience'),
    redirect_uri: options.text('redirect-uri'),
    scopes: scopes?.split(/[\s,]+/).filter((one) => one !== ''),
  };
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return {
    client_id: clientId,
    client_secret: await secretOf(options, context),
    ...Object.fromEntries(entries),
  };
}

async function secretOf(options: Options, context: Context): Promise<string | null> {
  const variable = options.text('client-secret-env');
  if (options.on('client-secret-stdin')) {
    if (variable !== undefined)
      throw usageError('Give only one of --client-secret-env and --client-secret-stdin');
    const secret = (await context.io.readStdin()).trim();
    if (secret === '') throw usageError('--client-secret-stdin holds no secret');
    return secret;
  }
  if (variable === undefined) return null;
  const secret = await context.variable(variable);
  if (secret === undefined) throw usageError(`The environment variable ${variable} is not set`);
  return secret.trim();
}

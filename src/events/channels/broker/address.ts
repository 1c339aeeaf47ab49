import { withoutSecrets } from '../../../lib/secrets/secrets.ts';

/** The address of a message queue, with the values of the environment variables that it names. */
export interface Address {
  /** Without the colon, as it is written: `redis` or `rediss`. */
  readonly scheme: string;
  /** At least one; port 0 stands for the usual one. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly username: string;
  readonly password: string;
  /** Without the slash before it. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** Values of variables: they may be secret, so no message tells them. */
  readonly secrets: readonly string[];
}

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * @param url that `checkChannelUrl` accepted: `amqp://user:${PASSWORD}@one:5672,two/path?name=value`
 * @throws Error for a variable that is not set, or whose value makes no address
 */
export function resolveAddress(url: string, variable: (name: string) => string | undefined): Address {
  const secrets: string[] = [];
  const text = url.replace(reference, (_, name: string) => {
    const value = variable(name);
    if (value === undefined) throw new Error(`The environment variable ${name} is not set`);
    if (value !== '') secrets.push(value);
    return encodeURIComponent(value);
  });
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([^:]+):(?:\/\/([^/?#]*))?\/?([^?#]*)\??([^#]*)/.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const [username = '', ...password] = authority.slice(0, Math.max(at, 0)).split(':');
  return {
    scheme: scheme.toLowerCase(),
    hosts: authority
      .slice(at + 1)
      .split(',')
      .map(hostOf),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password.join(':')),
    path: decodeURIComponent(path),
    parameters: new Map(new URLSearchParams(query)),
    secrets,
  };
}

function hostOf(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${decodeURIComponent(text)}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/**
 * The value that a parameter of the address stands for; that of the first name when it is not set.
 * @throws Error for another value
 */
export function choice<T>({ parameters }: Address, name: string, values: Readonly<Record<string, T>>): T {
  const text = parameters.get(name) ?? Object.keys(values)[0] ?? '';
  const value = Object.hasOwn(values, text) ? values[text] : undefined;
  if (value === undefined) throw new Error(`${name} must be one of ${Object.keys(values).join(', ')}`);
  return value;
}

/** The error without what is secret in the address. */
export function redactedError(error: unknown, { secrets }: Pick<Address, 'secrets'>): Error {
  const errorText = error instanceof Error ? error.message : String(error);
  const message = withoutSecrets(errorText, secrets);
  return error instanceof Error && errorText === message ? error : new Error(message);
}

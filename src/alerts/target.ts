import { isAbsolute } from 'node:path';
import { GatewayError } from '../lib/error.ts';
import type { AlertKind } from './schema.ts';
import type { AlertTarget } from './target-schema.ts';

const MOST_RECIPIENTS = 20;
/** One address as mail programs take it; what is allowed beyond is decided by the mail server. */
const address = /^[^\s@<>,;"()[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** What the text of a target says. @throws GatewayError `invalid_request` that never repeats the text */
export function targetOf(kind: AlertKind, text: string, args: readonly string[] = []): AlertTarget {
  if (kind !== 'command' && args.length > 0) throw wrong('args', 'only a command takes arguments');
  switch (kind) {
    case 'webhook':
      return { kind, url: checkedUrl(text, /^https?:$/, 'a URL of http or https') };
    case 'slack':
      return { kind, url: checkedUrl(text, /^https?:$/, 'the URL of an incoming webhook') };
    case 'email': {
      const to = text.split(',').map((one) => one.trim());
      if (to.length > MOST_RECIPIENTS) throw wrong('target', `at most ${MOST_RECIPIENTS} addresses`);
      if (to.every((one) => address.test(one))) return { kind, to };
      throw wrong('target', 'addresses look like ops@example.com, with commas between them');
    }
    case 'command':
      if (!isAbsolute(text)) throw wrong('target', 'give the absolute path of the program');
      return { kind, file: text, args: [...args] };
  }
}

function checkedUrl(text: string, protocol: RegExp, what: string): string {
  const url = URL.parse(text);
  if (url === null || !protocol.test(url.protocol)) throw wrong('target', `must be ${what}`);
  if (url.username !== '' || url.password !== '')
    throw wrong('target', 'the URL has a user or a password in it: use one with a secret path or query');
  return url.href;
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}

/** The target as it may be shown: the path and query of a URL open it to everybody, and arguments may be secrets. */
export function maskedTarget(target: AlertTarget | null): string {
  if (target === null) return '(cannot be decrypted)';
  switch (target.kind) {
    case 'webhook':
    case 'slack': {
      const { hash, origin, pathname, search } = new URL(target.url);
      const rest = `${pathname}${search}${hash}`;
      return rest === '/' ? `${origin}/` : `${origin}/…${rest.length > 16 ? rest.slice(-4) : ''}`;
    }
    case 'email':
      return target.to.join(', ');
    case 'command':
      return target.args.length === 0 ? target.file : `${target.file} …`;
  }
}

import { GatewayError } from '../../lib/error.ts';
import { withoutTrailing } from '../../lib/trailing.ts';
import type { ToolApi } from '../tool.ts';

/**
 * What follows the gateway's address in the configuration of a tool. Tools that speak Anthropic's messages and Google's
 * API add the version themselves; those of OpenAI's APIs expect it.
 */
const suffixes: Readonly<Record<ToolApi, string>> = {
  'anthropic-messages': '',
  gemini: '',
  'openai-chat': '/v1',
  'openai-responses': '/v1',
};

/** The base address that a tool is given. @param root address of the gateway, as `gatewayRoot` returns it */
export function baseUrlFor(api: ToolApi, root: string): string {
  return root + suffixes[api];
}

/**
 * The address of a gateway as people write it, with or without `/v1`, without anything behind its path.
 * @throws GatewayError for what is no address of HTTP, or has a password in it
 */
export function gatewayRoot(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!usable || url.search !== '' || url.hash !== '')
    throw new GatewayError(
      'invalid_request',
      'The address of a gateway looks like https://gateway.example.com:20128',
      {
        param: 'base_url',
      },
    );
  const path = url.pathname.replace(/\/$/, '');
  return url.origin + (path === '/v1' || path.endsWith('/v1') ? path.slice(0, -3) : path);
}

/** The address at which this machine reaches a gateway that listens on `host`. */
export function rootAt(host: string, port: number): string {
  const wildcard = host === '0.0.0.0' || host === '::' || host === '[::]';
  const name = wildcard ? '127.0.0.1' : host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * An address from input that must be this gateway's. No other is taken: what a tool is pointed at gets all that it
 * is asked to work on.
 * @param own address at which this machine reaches the gateway
 * @param names names under which the gateway may be spoken to
 * @throws GatewayError `invalid_request`
 */
export function ownRoot(address: string, own: string, names: ReadonlySet<string>): string {
  const root = gatewayRoot(address);
  const { hostname } = new URL(root);
  const foreign = !names.has(hostname) || (loopback.test(hostname) && !sameGateway(root, own));
  if (!foreign) return root;
  throw new GatewayError(
    'invalid_request',
    `This is not an address of this gateway: use ${own}, or add its name to "allowed_hosts" in config.json`,
    { param: 'base_url' },
  );
}

/** Whether two addresses lead to the same gateway. The names of this machine are one. */
export function sameGateway(a: string, b: string): boolean {
  const [left, right] = [comparable(a), comparable(b)];
  return left !== null && left === right;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/;

function comparable(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const host = loopback.test(url.hostname) ? 'localhost' : url.hostname;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const path = withoutTrailing(url.pathname, '/').replace(/\/v1(beta)?$/, '');
  return `${url.protocol}//${host}:${port}${path}`;
}

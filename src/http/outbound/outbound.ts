import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Where this process listens; null while it does not. */
export type Listening = () => { host: string; port: number } | null;

/**
 * Why nothing is sent to an address and port; null where it may be. Refused is what no server of models has and what
 * would give away more than the caller could get by themselves: this gateway's own port, and the addresses at which
 * clouds hand out credentials of the machine. Networks of one's own are not refused: models are served there.
 * @param privateNetworks false refuses those too, and all that is no address of the Internet
 */
export function outboundRefusal(
  address: string,
  port: number,
  listening: Listening,
  privateNetworks = true,
): string | null {
  const plain = unbracketed(address);
  if (isSensitive(plain)) return 'its address is link-local, or one at which clouds hand out credentials';
  if (!privateNetworks && isWithin(unreachable, plain)) return 'its address is in a private network';
  return isOwn(plain, port, listening()) ? "its address is this gateway's own" : null;
}

/** Names under which clouds serve the same. They are refused even where no resolver has them. */
const metadataNames =
  /^(metadata|metadata\.google\.internal|instance-data(\.ec2\.internal)?|metadata\.goog)\.?$/i;

/** The same for the host of a URL, which may be a name that is resolved only when it is used. */
export function hostRefusal(
  hostname: string,
  port: number,
  listening: Listening,
  privateNetworks = true,
): string | null {
  const plain = unbracketed(hostname);
  if (metadataNames.test(plain)) return 'clouds hand out credentials under its name';
  if (/^localhost\.?$/i.test(plain)) return outboundRefusal('127.0.0.1', port, listening, privateNetworks);
  return isIP(plain) === 0 ? null : outboundRefusal(plain, port, listening, privateNetworks);
}

/** An address that a name was resolved to, and that is refused. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

type Resolved = (error: Error | null, addresses: string | LookupAddress[], family?: number) => void;
type Lookup = (hostname: string, options: LookupOptions, callback: Resolved) => void;

/** Resolves names for `port`, leaving out addresses that are refused; an error where none is left. */
export function guardedLookup(
  port: number,
  listening: Listening,
  lookup: Lookup = everyAddress,
  privateNetworks = true,
): Lookup {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null || !Array.isArray(addresses))
        return callback(error ?? new Error('not resolved'), '');
      const refusals = addresses.map(({ address }) =>
        outboundRefusal(address, port, listening, privateNetworks),
      );
      const allowed = addresses.filter((_, index) => refusals[index] === null);
      const [first] = allowed;
      if (first === undefined) return callback(new AddressRefused(refusals[0] ?? 'it has no address'), '');
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

const everyAddress: Lookup = (hostname, options, callback) =>
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => callback(error, addresses));

/** Link-local networks, and the addresses of metadata services that lie elsewhere (Alibaba, Azure, Oracle, AWS on IPv6). */
const sensitive = new BlockList();
sensitive.addSubnet('169.254.0.0', 16, 'ipv4');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192'])
  sensitive.addAddress(address, 'ipv4');
sensitive.addSubnet('fe80::', 10, 'ipv6');
sensitive.addAddress('fd00:ec2::254', 'ipv6');
sensitive.addAddress('fd20:ce::254', 'ipv6');

/** Networks that are not part of the Internet (IANA's registries of special-purpose addresses): private, loopback, shared, reserved. */
const unreachable = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  unreachable.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  unreachable.addSubnet(network, prefix, 'ipv6');

function isSensitive(address: string): boolean {
  return isWithin(sensitive, address);
}

function isWithin(list: BlockList, address: string): boolean {
  if (list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return true;
  const inner = embedded(address);
  return inner !== null && list.check(inner, 'ipv4');
}

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, translated (NAT64) or tunnelled (6to4). */
function embedded(address: string): string | null {
  if (!isIPv6(address)) return null;
  const groups = groupsOf(address);
  const text = groups.map((group) => group.toString(16)).join(':');
  const at = /^0:0:0:0:0:(0|ffff):|^0:0:0:0:ffff:0:|^64:ff9b:0:0:0:0:/.test(text)
    ? groups.slice(6)
    : groups[0] === 0x2002
      ? groups.slice(1, 3)
      : null;
  return at === null ? null : at.flatMap((group) => [group >> 8, group & 255]).join('.');
}

/** The eight groups of an IPv6 address as numbers. */
function groupsOf(address: string): number[] {
  const [bare = ''] = address.split('%', 1);
  const hex = bare.replace(/:(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, a, b, c, d) => {
    const group = (high: string, low: string) => ((Number(high) << 8) | Number(low)).toString(16);
    return `:${group(a, b)}:${group(c, d)}`;
  });
  const [head = '', tail = ''] = hex.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
}

function isOwn(address: string, port: number, listening: { host: string; port: number } | null): boolean {
  if (listening === null || port !== listening.port) return false;
  const there = embedded(address) ?? address;
  if (there === unbracketed(listening.host)) return true;
  const near = isLoopback(there) || isUnspecified(there);
  if (isLoopback(listening.host)) return near;
  if (!isUnspecified(unbracketed(listening.host))) return false;
  return (
    near || Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === there))
  );
}

function isLoopback(address: string): boolean {
  return /^127\.\d+\.\d+\.\d+$|^localhost$/.test(address) || isSame(address, '::1');
}

/** Connecting to no address in particular leads to this machine. */
function isUnspecified(address: string): boolean {
  return /^0\.\d+\.\d+\.\d+$/.test(address) || isSame(address, '::');
}

function isSame(address: string, other: string): boolean {
  return isIPv6(address) && groupsOf(address).join() === groupsOf(other).join();
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}

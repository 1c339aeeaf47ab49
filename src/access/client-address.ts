import { BlockList, isIP, isIPv6 } from 'node:net';

/** An address without its IPv6 dress: `::ffff:10.0.0.1` is 10.0.0.1. Zone ids are left out. */
export function plainAddress(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%', 1);
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1] ?? bare;
}

export function isLoopbackAddress(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || /^127\.\d+\.\d+\.\d+$/.test(plain);
}

/**
 * What stands for a client where failures are counted: the address, with all of this machine as one and the lower half
 * of IPv6 left out, which one computer may choose anew for every request.
 */
export function clientOf(address: string): string {
  if (isLoopbackAddress(address)) return 'loopback';
  const plain = plainAddress(address);
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : plain;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last].map((group) => group.replace(/^0+(?=.)/, ''));
}

/** Whether an address is in one of the networks, which are in CIDR notation or single addresses. */
export function inNetworks(address: string, list: readonly string[]): boolean {
  return networks(list)(address);
}

/** The same for a list that is asked often. */
export function networks(list: readonly string[]): (address: string) => boolean {
  const blockList = new BlockList();
  for (const network of list) {
    const [base = '', bits] = network.split('/');
    const family = isIPv6(base) ? 'ipv6' : 'ipv4';
    if (bits === undefined) blockList.addAddress(base, family);
    else blockList.addSubnet(base, Number(bits), family);
  }
  return (address) => {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && blockList.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

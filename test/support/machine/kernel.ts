import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A TCP connection over IPv4 of this machine as the kernel has it, at one of its ends. */
export interface KernelSocket {
  localPort: number;
  remotePort: number;
  /** Bytes that have arrived and were not read by the process. */
  unread: number;
  /** Bytes that the other end has not confirmed. */
  unsent: number;
  isEstablished: boolean;
  /** What its process has it open as; 0 while or once none has. */
  inode: number;
}

/** Every TCP connection of this machine over IPv4 (`/proc/net/tcp`); null on systems that do not tell. */
export async function kernelSockets(): Promise<KernelSocket[] | null> {
  const text = await readFile('/proc/net/tcp', 'utf8').catch(() => null);
  if (text === null) return null;
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16);
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [, local, remote, state, queues = '', , , , , inode] = line.trim().split(/\s+/);
      const [unsent = '', unread = ''] = queues.split(':');
      return {
        localPort: portOf(local),
        remotePort: portOf(remote),
        unread: Number.parseInt(unread, 16),
        unsent: Number.parseInt(unsent, 16),
        isEstablished: state === '01',
        inode: Number(inode),
      };
    });
}

/** Where the kernel does not tell, the peer gets this long. */
const UNTOLD_MS = 30;

/** Waits until the process at the other end of a connection on this machine has read all that was written. */
export async function readByPeer(socket: Socket): Promise<void> {
  const { localPort, remotePort } = socket;
  while (!socket.destroyed) {
    const all = await kernelSockets();
    if (all === null) return delay(UNTOLD_MS);
    const own = all.find((one) => one.localPort === localPort && one.remotePort === remotePort);
    const peer = all.find((one) => one.localPort === remotePort && one.remotePort === localPort);
    const pending = socket.writableLength + (own?.unsent ?? 0) + (peer?.unread ?? 0);
    if (pending === 0) return;
    await delay(5);
  }
}

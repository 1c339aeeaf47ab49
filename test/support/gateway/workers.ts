import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openClient, type RawClient, type Reply, type RequestLine } from '../clients/client.ts';
import { kernelSockets } from '../machine/kernel.ts';

/** `TEST_WORKERS=2 node --test …` runs any end-to-end test over a gateway of so many workers; null where it does not. */
export const workersOfThisRun: string | null = process.env['TEST_WORKERS'] ?? null;

/** The workers of a gateway, by its process. */
export async function workersOf(pid: number): Promise<number[]> {
  const folder = `/proc/${pid}/task`;
  const lists = await Promise.all(
    (await readdir(folder)).map((task) => readFile(`${folder}/${task}/children`, 'utf8').catch(() => '')),
  );
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  const commands = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_, index) => /\/worker\.[jt]s\0/.test(commands[index] ?? ''));
}

/** Connections to one worker. To find out who has accepted a connection is slow, so that those of answered requests are kept. */
export interface WorkerClient {
  /** One request, answered whole. */
  send(request: RequestLine): Promise<Reply>;
  /** A connection of its own. */
  open(): Promise<RawClient>;
  close(): void;
}

export function clientOfWorker(port: number, worker: number): WorkerClient {
  const idle: RawClient[] = [];
  const send = async (request: RequestLine): Promise<Reply> => {
    const kept = idle.pop();
    const client = kept ?? (await openClientOf(port, worker));
    try {
      await client.send(request);
      const reply = await client.reply();
      const isOpen = reply.end === 'complete' && reply.header('connection') !== 'close';
      if (isOpen) idle.push(client);
      else client.destroy();
      return reply;
    } catch (error) {
      client.destroy();
      if (kept === undefined) throw error;
      // The gateway has closed it meanwhile.
      return send(request);
    }
  };
  return {
    send,
    open: () => openClientOf(port, worker),
    close() {
      for (const client of idle.splice(0)) client.destroy();
    },
  };
}

/** A connection that this worker has accepted, and none of the others. */
async function openClientOf(port: number, worker: number): Promise<RawClient> {
  for (;;) {
    const client = await openClient(port);
    const inode = await acceptedInode(client.socket);
    if (inode === null || (await socketsOf(worker)).has(inode)) return client;
    client.destroy();
  }
}

/** What the other end of a connection is, once it is accepted; null where the connection has ended. */
async function acceptedInode({ localPort, remotePort }: Socket): Promise<number | null> {
  for (;;) {
    const all = (await kernelSockets()) ?? [];
    const peer = all.find((one) => one.localPort === remotePort && one.remotePort === localPort);
    if (peer !== undefined && peer.inode !== 0) return peer.inode;
    if (peer?.isEstablished !== true) return null;
    await delay(1);
  }
}

/** The inodes of the sockets that a process has open. */
export async function socketsOf(pid: number): Promise<Set<number>> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []).map(Number));
}

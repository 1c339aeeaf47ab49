import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostName } from '../http/server/allowed-hosts.ts';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import { findBinary } from '../tools/detection/binary.ts';
import type { Machine } from '../tools/machine.ts';
import type { TunnelKind } from './kind.ts';
import { tunnelKinds } from './kinds/index.ts';
import { runProgram } from './program.ts';
import type { TunnelId } from './schema.ts';
import { type TunnelRecord, tunnelStore } from './store.ts';
import { createTunnel, type Tunnel, type TunnelStatus } from './tunnel.ts';

/** A tunnel that was created, as it is now. */
export interface CreatedTunnel extends TunnelStatus, TunnelRecord {}

export interface TunnelsInput {
  store: Pick<Store, 'db' | 'node'>;
  dataDir: string;
  /** The machine that programs are looked for on, with the variables that they may be given. */
  machine: Machine;
  /** The gateway's address on this machine. */
  target(): string;
  /** @throws GatewayError while the gateway must not be opened to the internet */
  guard(): Promise<void>;
  /** The names under which the gateway may be spoken to; those of tunnels come and go. */
  hosts: Set<string>;
  /** Told of each change of a tunnel. */
  onChange(tunnel: CreatedTunnel): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The tunnels of a gateway: at most one of each kind. */
export interface Tunnels {
  kinds: readonly TunnelKind[];
  /** Those that were created. */
  created(): readonly CreatedTunnel[];
  /** The path of the program of a kind; null where there is none. */
  program(kind: TunnelKind): Promise<string | null>;
  /** Whether one is meant to run, so that a request from this machine may come from the internet. */
  open(): boolean;
  /**
   * Creates and starts one; one of its kind that was stopped is started again.
   * @throws GatewayError `conflict` for one that runs, without a program, and while the gateway must not be opened
   */
  create(id: TunnelId, domain: string | null): Promise<void>;
  /** @throws GatewayError as `create` does, and `not_found` */
  start(id: TunnelId): Promise<void>;
  /** It stays stopped, also when the gateway is started again. @throws GatewayError `not_found` */
  stop(id: TunnelId): Promise<void>;
  /** Stops and forgets one. False when there was none. */
  remove(id: TunnelId): Promise<boolean>;
  /** Starts those that ran when the gateway ended. */
  resume(): Promise<void>;
  /** Ends all programs; they are started again with the gateway. */
  close(): Promise<void>;
}

/** Variables that every program of a tunnel may need. None of them holds a secret. */
const everyProgram = ['PATH', 'SystemRoot', 'ProgramFiles', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME'];

interface Entry {
  kind: TunnelKind;
  record: TunnelRecord;
  tunnel: Tunnel;
}

export async function openTunnels(input: TunnelsInput): Promise<Tunnels> {
  const { onChange, guard, hosts, machine, now, target } = input;
  const store = tunnelStore(input.store);
  const entries = new Map<TunnelId, Entry>();
  /** The names that tunnels have added to `hosts`. */
  const added = new Map<TunnelId, string>();

  const program = async (kind: TunnelKind) => (await findBinary(kind.programs, machine))?.path ?? null;
  const installed = async (kind: TunnelKind): Promise<string> => {
    const path = await program(kind);
    if (path === null)
      throw new GatewayError(
        'conflict',
        `${kind.name} needs the program ${kind.programs[0]}, which is not installed`,
      );
    return path;
  };
  const follow = ({ record, tunnel }: Entry) => {
    const { url } = tunnel.status();
    const name = url === null ? null : hostName(new URL(url).host);
    const before = added.get(record.id);
    if (before !== undefined && before !== name) {
      added.delete(record.id);
      hosts.delete(before);
    }
    // A name that the owner allows stays allowed.
    if (name === null || hosts.has(name)) return;
    hosts.add(name);
    added.set(record.id, name);
  };
  const add = (record: TunnelRecord): Entry => {
    const kind = kindOf(record.id);
    const entry: Entry = {
      kind,
      record,
      tunnel: createTunnel({
        kind,
        now,
        after: later,
        run: async (listen) => {
          await guard();
          const folder = join(input.dataDir, 'tunnels');
          await mkdir(folder, { recursive: true, mode: 0o700 });
          return runProgram({
            path: await installed(kind),
            args: kind.args({ url: target(), domain: entry.record.domain }),
            environment: environmentOf(kind, machine, folder),
            folder,
            ...listen,
          });
        },
        onChange() {
          follow(entry);
          onChange(shown(entry));
        },
      }),
    };
    entries.set(record.id, entry);
    return entry;
  };
  const save = async (entry: Entry, change: Partial<TunnelRecord>) => {
    const record = { ...entry.record, ...change };
    await store.put(record);
    entry.record = record;
  };
  const entryOf = (id: TunnelId): Entry => {
    const entry = entries.get(id);
    if (entry === undefined)
      throw new GatewayError('not_found', `There is no ${kindOf(id).name}: create it first`);
    return entry;
  };
  const start = async (entry: Entry, domain: string | null) => {
    await guard();
    await installed(entry.kind);
    await save(entry, { desired: 'running', domain });
    entry.tunnel.start();
  };
  for (const record of await store.list()) add(record);
  return {
    kinds: tunnelKinds,
    created: () => [...entries.values()].map(shown),
    program,
    open: () => [...entries.values()].some(({ tunnel }) => tunnel.status().state !== 'stopped'),
    async create(id, domain) {
      const kind = kindOf(id);
      if (domain !== null && !kind.takesDomain)
        throw new GatewayError('invalid_request', `${kind.name} takes no domain`, { param: 'domain' });
      const entry = entries.get(id);
      if (entry !== undefined && entry.tunnel.status().state !== 'stopped')
        throw new GatewayError('conflict', `${kind.name} is running already: stop it first`);
      await guard();
      await installed(kind);
      await start(entry ?? add({ id, domain, desired: 'running', createdAt: now() }), domain);
    },
    async start(id) {
      const entry = entryOf(id);
      await start(entry, entry.record.domain);
    },
    async stop(id) {
      const entry = entryOf(id);
      await save(entry, { desired: 'stopped' });
      await entry.tunnel.stop();
    },
    async remove(id) {
      const entry = entries.get(id);
      if (entry === undefined) return false;
      entries.delete(id);
      await store.remove(id);
      await entry.tunnel.stop();
      return true;
    },
    async resume() {
      for (const { record, tunnel } of entries.values()) if (record.desired === 'running') tunnel.start();
    },
    async close() {
      await Promise.all([...entries.values()].map(({ tunnel }) => tunnel.stop()));
    },
  };
}

export function kindOf(id: TunnelId): TunnelKind {
  const kind = tunnelKinds.find((one) => one.id === id);
  if (kind === undefined) throw new GatewayError('not_found', `There is no kind of tunnel "${id}"`);
  return kind;
}

function shown({ record, tunnel }: Entry): CreatedTunnel {
  return { ...record, ...tunnel.status() };
}

/** The gateway's own environment stays outside: it may hold credentials. */
function environmentOf(
  kind: TunnelKind,
  { home, variables }: Machine,
  folder: string,
): Record<string, string> {
  const own = kind.usesHome ? home : folder;
  const passed = [...everyProgram, ...kind.variables].flatMap((name) => {
    const value = variables[name];
    return value === undefined || (name === 'XDG_CONFIG_HOME' && !kind.usesHome)
      ? []
      : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), HOME: own, USERPROFILE: own };
}

function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

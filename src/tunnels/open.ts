import { userStore } from '../access/users/users.ts';
import { type Config, readVariable } from '../config.ts';
import type { Listening } from '../http/outbound/outbound.ts';
import { GatewayError } from '../lib/error.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/database.ts';
import { rootAt } from '../tools/configuring/base-url.ts';
import { machineOf, machineVariables } from '../tools/machine.ts';
import { tunnelKinds } from './kinds/index.ts';
import { type CreatedTunnel, openTunnels, type Tunnels } from './tunnels.ts';

export interface GatewayTunnelsInput {
  config: Config;
  store: Pick<Store, 'db' | 'node'>;
  listening: Listening;
  /** The names under which the gateway may be spoken to; those of tunnels come and go. */
  hosts: Set<string>;
  log: Log;
  /** Told of each change of a tunnel. */
  onChange(tunnel: CreatedTunnel): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The tunnels of a gateway on this machine. */
export function openGatewayTunnels(input: GatewayTunnelsInput): Promise<Tunnels> {
  const { onChange, config, hosts, listening, log, now, store } = input;
  const names = [...machineVariables, ...tunnelKinds.flatMap(({ variables }) => variables)];
  const users = userStore(store);
  return openTunnels({
    store,
    hosts,
    now,
    dataDir: config.dataDir,
    machine: machineOf(Object.fromEntries(names.map((name) => [name, readVariable(name)]))),
    target() {
      const { host, port } = listening() ?? config;
      return rootAt(host, port);
    },
    async guard() {
      if (!(await users.hasAdmin()))
        throw refused('an admin password first: run `gateway setup`, and set one');
      if (!config.authRequired) throw refused('gateway keys: set "auth.required" to true and start it again');
    },
    onChange(tunnel) {
      const { error, id, state, url } = tunnel;
      if (state === 'waiting')
        log.warn({ tunnel: id, reason: error?.message }, 'a tunnel ended; it is started again');
      else log.info({ tunnel: id, state, url }, 'a tunnel has changed');
      onChange(tunnel);
    },
  });
}

function refused(needs: string): GatewayError {
  return new GatewayError('conflict', `A tunnel opens the gateway to the internet, which needs ${needs}`);
}

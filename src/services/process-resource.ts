import type { Action, Caller, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { processRow } from './schema.ts';

/** Whether there is a newer version than the one that runs, or why that is not known. */
export type UpdateCheck =
  | {
      kind: 'known';
      message: string;
      newer: boolean;
      /** The commands that take it. */
      next: string[];
    }
  | { kind: 'unknown'; message: string };

/** What may be done to the process over the API, as set at its start. */
export interface ProcessControl {
  /** Ends the gateway once open requests have finished, or starts it anew in the same process. Returns at once. */
  leave(how: 'stop' | 'restart'): void;
  checkUpdate(): Promise<UpdateCheck>;
  /** How commands for this gateway are written on its machine. */
  cli: { program: string; flags: string };
}

export interface ProcessInput {
  /** Null where the gateway is part of another program. */
  control: ProcessControl | null;
  version: string;
  /** Whether a caller may have programs run on this machine. */
  mayRun(caller: Caller): boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The one process that answers. */
const ID = 'this';

/** The process of the gateway: what it is, ending it, starting the gateway anew with the settings as they are now. */
export function processResource(input: ProcessInput): Resource {
  const { control, now, version } = input;
  const row: Row = {
    id: ID,
    version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    pid: process.pid,
    started_at: new Date(now()).toISOString(),
    cli: control?.cli ?? null,
  };
  return {
    name: 'processes',
    title: 'Process',
    summary: 'The process of the gateway that answers, with the id "this".',
    record: processRow,
    read: 'services:read',
    guarded: { version: 'services:operate', pid: 'services:operate', cli: 'services:operate' },
    list: async () => [row],
    find: async (id) => (id === ID ? row : null),
    actions: control === null ? {} : actionsOf(input, control),
  };
}

function actionsOf({ mayRun }: ProcessInput, control: ProcessControl): Record<string, Action> {
  const leave = (how: 'stop' | 'restart', summary: string, message: string): Action => ({
    summary,
    permission: 'process:operate',
    preview: async () => ({ success: true, message: `${message}, once open requests have finished` }),
    async run() {
      // It waits for open requests, of which this is one.
      control.leave(how);
      return { success: true, message: `${message}, once open requests have finished` };
    },
  });
  return {
    restart: leave(
      'restart',
      'Lets open requests finish and starts the gateway again in the same process, with the current settings',
      'The gateway starts anew',
    ),
    stop: leave('stop', 'Lets open requests finish and ends the process', 'The gateway ends'),
    check_update: {
      summary: 'Checks for a newer version; installs nothing',
      permission: 'process:operate',
      perMinute: 6,
      beside: true,
      async run(_row, _input, caller) {
        if (!mayRun(caller))
          throw new GatewayError(
            'forbidden',
            'This runs a program on the machine of the gateway: ask from there, or set "tools.remote_detection"',
          );
        const { kind, message, ...result } = await control.checkUpdate();
        if (kind === 'unknown') throw new GatewayError('conflict', message);
        return { success: true, message, result };
      },
    },
  };
}

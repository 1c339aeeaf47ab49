import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from '../context.ts';
import { failure } from '../terminal/failure.ts';

export const UNIT = 'modelgate.service';
const TIMEOUT_MS = 60_000;

export interface Systemd {
  /** Where the unit of this user is. */
  unitPath: string;
  /** Runs `systemctl --user`. @returns what it printed @throws a failure with what it complained of */
  ctl(...args: readonly string[]): Promise<string>;
}

/** The systemd of this user. @throws a failure where there is none */
export async function systemdOf(context: Context): Promise<Systemd> {
  if (process.platform !== 'linux')
    throw failure(
      1,
      'not_supported',
      'Services are installed with systemd, which only Linux has: have `gateway serve` started by the service manager of this system',
    );
  const environment = await context.environment();
  const home = environment['XDG_CONFIG_HOME'] ?? join(environment['HOME'] ?? '/', '.config');
  return {
    unitPath: join(home, 'systemd', 'user', UNIT),
    async ctl(...args) {
      try {
        const options = { env: environment, timeout: TIMEOUT_MS };
        return (await promisify(execFile)('systemctl', ['--user', ...args], options)).stdout;
      } catch (error) {
        throw failure(1, 'systemd_failed', complaintOf(error, args));
      }
    },
  };
}

function complaintOf(error: unknown, args: readonly string[]): string {
  const { code, stderr } = Object(error) as { code?: unknown; stderr?: unknown };
  if (code === 'ENOENT') return 'There is no systemctl on this machine: it has no systemd';
  const errorText = typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error);
  return `systemctl --user ${args.join(' ')} failed: ${errorText}`;
}

/** What systemd says of the unit. */
export interface UnitState {
  installed: boolean;
  /** `active`, `inactive`, `failed`, `activating` … */
  active: string;
  /** `enabled`: it is started with the session of its user. */
  enabled: string;
  pid: number | null;
}

export async function unitState({ ctl }: Pick<Systemd, 'ctl'>): Promise<UnitState> {
  const properties = 'LoadState,ActiveState,UnitFileState,MainPID';
  const lines = (await ctl('show', UNIT, `--property=${properties}`)).split('\n');
  const value = (name: string) => lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  const pid = Number(value('MainPID') ?? 0);
  return {
    installed: value('LoadState') === 'loaded',
    active: value('ActiveState') ?? 'unknown',
    enabled: value('UnitFileState') || 'no',
    pid: pid > 0 ? pid : null,
  };
}

import type { AgentSettings } from '../definition.ts';

/** What any program needs to run; none of them holds a secret. */
const everyday = [
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TERM',
  // Windows finds its own parts by these.
  'SystemRoot',
  'SystemDrive',
  'ComSpec',
  'PATHEXT',
  'WINDIR',
  'TEMP',
  'TMP',
] as const;

/** Where a person's settings are; not for an agent that has a home folder of its own. */
const personal = [
  'HOME',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
] as const;

/** The gateway's own settings and secrets: no agent gets any of them, even if they are configured for it. */
const ownVariables =
  /^(?:GATEWAY_|MODELGATE_|STORAGE_ENCRYPTION_KEY|DATABASE_URL$|REDIS_URL$|DATA_DIR$|SMTP_|NODE_OPTIONS$)/i;

export interface EnvironmentInput {
  /** A variable of the gateway's own environment. */
  variable(name: string): string | undefined;
  /** Names that the agent may have besides. */
  pass: readonly string[];
  /** A home folder of the agent's own; null for its user's. */
  home: string | null;
  /** Variables that it always gets. */
  always: Readonly<Record<string, string>>;
  /** What points it at this gateway; null where nothing does. */
  routed: Pick<AgentSettings, 'env'> | null;
}

/** The whole environment of an agent: nothing is inherited that is not named. */
export function agentEnvironment({
  always,
  home,
  pass,
  routed,
  variable,
}: EnvironmentInput): Record<string, string> {
  const environment: Record<string, string> = {};
  const names = [...everyday, ...(home === null ? personal : []), ...pass];
  for (const name of names) {
    const value = ownVariables.test(name) ? undefined : variable(name);
    if (value !== undefined) environment[name] = value;
  }
  if (home !== null) {
    environment['HOME'] = home;
    environment['USERPROFILE'] = home;
  }
  return { TERM: 'dumb', ...environment, NO_COLOR: '1', ...always, ...routed?.env };
}

const secretName = /key|token|secret|passw|credential|auth/i;
const MIN_SECRET = 6;

/** The values of an environment that may be credentials: they are left out of what the agent prints. */
export function secretsIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    secretName.test(name) && value.length >= MIN_SECRET ? [value] : [],
  );
}

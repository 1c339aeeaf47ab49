/** What the unit of systemd runs. */
export interface UnitInput {
  /** The absolute path of Node.js, and of the program that it runs. */
  node: string;
  program: string;
  /** Absolute. */
  dataDir: string;
  /** Null where the configuration says it. */
  port: number | null;
  /** A file of `NAME=value` lines for what must not stand in a unit, such as STORAGE_ENCRYPTION_KEY. It need not exist. */
  environmentFile: string;
  /** How long open requests may finish, in milliseconds. */
  drainMs: number;
}

/** What closing takes beside the drain, in seconds. */
const CLOSING_S = 35;

/**
 * The text of a user unit (systemd.unit(5), systemd.service(5)).
 * @throws Error for a path with a line break, which no unit can hold
 */
export function unitText({ dataDir, drainMs, environmentFile, node, port, program }: UnitInput): string {
  const flags = port === null ? '' : ` --port ${port}`;
  const command = [node, program].map((path) => quoted(path, true)).join(' ');
  return `[Unit]
Description=Modelgate AI gateway
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${command} serve --non-interactive${flags}
Environment=${quoted(`DATA_DIR=${dataDir}`, false)}
EnvironmentFile=-${escaped(environmentFile)}
Restart=on-failure
RestartSec=2
TimeoutStopSec=${Math.ceil(drainMs / 1000) + CLOSING_S}
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** A word of a unit file. In commands `$` begins a variable, elsewhere it does not. */
function quoted(text: string, command: boolean): string {
  const inQuotes = escaped(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${command ? inQuotes.replaceAll('$', '$$$$') : inQuotes}"`;
}

function escaped(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error(`No unit of systemd can hold the path ${JSON.stringify(text)}`);
  return text.replaceAll('%', '%%');
}

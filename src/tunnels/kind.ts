/** The event of a line that a tunnel's program printed. Never the line itself, which may hold a secret. */
export type TunnelEvent =
  /** Where the gateway can be reached from the internet. */
  | { kind: 'url'; url: string }
  /** Whether the program is connected to its service. */
  | { kind: 'connected'; connected: boolean }
  /** Why it does not work, for the owner. */
  | { kind: 'problem'; message: string };

export interface TunnelTarget {
  /** The gateway's address on this machine: `http://127.0.0.1:20128`. */
  url: string;
  /** The name that was reserved for the tunnel; null for whatever the service gives. */
  domain: string | null;
}

/** One kind of tunnel, as data. */
export interface TunnelKind {
  id: 'cloudflared' | 'tailscale' | 'ngrok';
  name: string;
  /** Names of its program. */
  programs: readonly string[];
  /** Whether a name can be reserved for it. */
  takesDomain: boolean;
  /** Whether the program may use the owner's home folder, where its login is. */
  usesHome: boolean;
  /** Variables of the environment that it is given beside those that every program needs. */
  variables: readonly string[];
  args(target: TunnelTarget): string[];
  /** Reads what one run of the program prints, line by line, stdout and stderr alike. */
  reader(): (line: string) => TunnelEvent | null;
}

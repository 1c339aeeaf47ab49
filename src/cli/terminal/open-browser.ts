import { spawn } from 'node:child_process';

/** How each system opens an address in the browser that its user chose. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export interface OpenBrowserOptions {
  platform: NodeJS.Platform;
  /** Reads a variable of the environment. */
  variable(name: string): string | undefined;
  /** Told when the browser cannot be opened. */
  onFailure(): void;
}

/**
 * Opens an address in the browser, and waits for nothing. Does nothing where there is no screen: on Linux without a
 * display, as over SSH.
 */
export function openBrowser(url: string, { onFailure, platform, variable }: OpenBrowserOptions): void {
  const opener = openers[platform];
  const hidden =
    platform === 'linux' && variable('DISPLAY') === undefined && variable('WAYLAND_DISPLAY') === undefined;
  if (opener === undefined || hidden) return;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', onFailure);
  child.on('exit', (code) => {
    if (code !== 0 && code !== null) onFailure();
  });
  child.unref();
}

/** Pages that moved in version 3.8.6, and where they are now. */
const moved: Readonly<Record<string, string>> = {
  'cli-tools': 'cli-code',
  agents: 'acp-agents',
};

/** What a path of the dashboard asks for. */
export type SitePath =
  | { kind: 'moved'; location: string }
  | { kind: 'file'; path: string }
  /** A page, which the script in the browser shows; `base` leads from it to the dashboard's root. */
  | { kind: 'page'; base: string };

export function isDashboardPath(path: string): boolean {
  return path === '/dashboard' || path.startsWith('/dashboard/');
}

/** Reads a path for which `isDashboardPath` holds. */
export function sitePath(path: string): SitePath {
  const below = path.slice('/dashboard'.length);
  const [first = '', ...rest] = below.slice(1).split('/');
  const target = moved[first];
  if (target !== undefined)
    return {
      kind: 'moved',
      location: ['/dashboard', target, ...rest.filter((part) => part !== '')].join('/'),
    };
  if (first === 'assets' || (rest.length === 0 && /\.(svg|txt|webmanifest|png)$/.test(first)))
    return { kind: 'file', path: below.slice(1) };
  // Relative, so that a proxy may serve the gateway below a path of its own.
  if (below === '') return { kind: 'page', base: 'dashboard/' };
  return { kind: 'page', base: rest.length === 0 ? './' : '../'.repeat(rest.length) };
}

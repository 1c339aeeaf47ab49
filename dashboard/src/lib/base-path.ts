/**
 * Where the dashboard is served, as the page's `<base>` says: a proxy may have put the gateway below a path of its own.
 * With a trailing slash: `https://host/prefix/dashboard/`.
 */
export function dashboardUrl(): URL {
  return new URL('./', document.baseURI);
}

/** The path of the dashboard without a trailing slash, for the router: `/prefix/dashboard`. */
export function dashboardPath(): string {
  return dashboardUrl().pathname.replace(/\/+$/, '');
}

/** The gateway's own address, without a trailing slash, as the reader of this page reaches it. */
export function gatewayUrl(): string {
  return new URL('../', dashboardUrl()).href.replace(/\/+$/, '');
}

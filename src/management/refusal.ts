import type { OutgoingHttpHeaders } from 'node:http';
import type { GatewayError } from '../lib/error.ts';
import type { Answer } from './answer.ts';
import { securityHeaders } from './guard/security-headers.ts';
import { problem } from './problem.ts';

/** Whether a path belongs to the management API. The editor alias begins alike and is the data plane's, also where it is none. */
export function isManagementPath(path: string): boolean {
  return /^\/+api(\/|$)(?!\/*v1\/+(editor|vscode)(\/|$))/.test(path);
}

/** An error as an answer by the server itself, for a request that never got here. */
export function refusalWithHeaders(error: GatewayError, requestId: string) {
  const { headers, status } = refusal(error, requestId);
  return { status, body: problem(error, requestId), headers: { ...securityHeaders, ...headers } };
}

/** An error as an answer, with the challenge that every 401 of this API carries (spec 3, section 7). */
export function refusal(error: GatewayError, requestId: string): Answer {
  const headers: OutgoingHttpHeaders = {};
  if (error.status === 401) headers['www-authenticate'] = 'Basic realm="Application"';
  if (error.retryAfter !== null) headers['retry-after'] = String(error.retryAfter);
  return { status: error.status, body: problem(error, requestId), headers };
}

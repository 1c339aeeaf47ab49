import { consentPath } from '../../events/processors/consent-callbacks.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import type { ApiPath } from '../api-path.ts';
import type { ManagementContext } from '../context.ts';
import { notAllowed } from '../request-body.ts';

/** Whether it is the address at which receivers of webhooks consent to being sent events. */
export function isConsentCallback({ collection, rest, version }: ApiPath): boolean {
  return version === null && `/api/${[collection, ...rest].join('/')}` === consentPath;
}

/**
 * Takes the consent of a receiver, which comes without a token: the random key in the address authorizes it. By GET too,
 * because the address may be opened in a browser (HTTP 1.1 Web Hooks for Event Delivery, section 4.1).
 * @throws GatewayError `not_found` for an address that was never sent, or that has expired
 */
export function serveConsent({ events }: ManagementContext, { query, request }: Exchange): Answer {
  const { headers, method = '' } = request;
  if (method !== 'GET' && method !== 'POST') throw notAllowed(method);
  const key = new URLSearchParams(query).get('key') ?? '';
  const rate = headers['webhook-allowed-rate'];
  const granted = events.opened()?.engine.grantConsent(key, typeof rate === 'string' ? rate : null) ?? false;
  if (!granted)
    throw new GatewayError(
      'not_found',
      'The gateway expects no consent at this address: when it asks again, it sends a new one',
    );
  return { status: 204, body: null, headers: {} };
}

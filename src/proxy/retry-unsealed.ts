import { unsealed } from '../codecs/unseal.ts';
import { parseObject } from '../codecs/values.ts';
import type { GatewayError } from '../lib/error.ts';
import type { Call } from './call.ts';
import { joined } from './meter.ts';
import { findModel } from './splice.ts';

/**
 * Takes what is sealed (reasoning, found pages) out of the call's request, when `error` says that the upstream does not take it back.
 * False when the error is another one or there is nothing to take out; the request is then as it was.
 */
export function leaveOutSeals(call: Call, error: GatewayError): boolean {
  if (error.status !== 400 && error.status !== 422) return false;
  const { target, translated } = call;
  const request = parseObject((translated?.body ?? joined(call.body)).toString('utf8'));
  const without = request === null ? null : unsealed(target.format, request, error.message);
  if (without === null) return false;
  const body = Buffer.from(JSON.stringify(without.request));
  call.dropped = [...call.dropped, without.name];
  if (translated !== null) {
    call.translated = { ...translated, body };
    return true;
  }
  call.body = [body];
  const found = findModel(body);
  if (found.ok) call.span = { start: found.start, end: found.end };
  return true;
}

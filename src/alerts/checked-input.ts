import { GatewayError } from '../lib/error.ts';
import { type AlertKind, alertChange, newAlertInput } from './schema.ts';
import { checkCondition, defaultEvents, namesOf } from './selection.ts';
import type { AlertPatch, NewAlert } from './store.ts';
import { targetOf } from './target.ts';

/** Five minutes: the first event is sent at once, and all others of that time in one message. */
const DIGEST_MS = 300_000;

/** A new alert as it is stored. @throws GatewayError `invalid_request` that names the field and never repeats the target */
export function checkedAlert(input: Record<string, unknown>, byApi: boolean): NewAlert {
  const { args, digest_seconds, kind, name, on = defaultEvents, target, where } = newAlertInput.parse(input);
  namesOf(on);
  const condition = where === undefined || where?.trim() === '' ? null : where;
  checkCondition(condition);
  return {
    target: targetOf(kind, target, args),
    name: name ?? null,
    on,
    where: condition,
    digestMs: digest_seconds === undefined ? DIGEST_MS : digest_seconds * 1_000,
    byApi,
  };
}

/** What is to be changed of an alert of a kind. @throws GatewayError `invalid_request` */
export function checkedPatch(input: Record<string, unknown>, kind: AlertKind, byApi: boolean): AlertPatch {
  const { args, digest_seconds, name, on, target, where } = alertChange.parse(input);
  if (on !== undefined) namesOf(on);
  if (where !== undefined) checkCondition(where);
  if (args !== undefined && target === undefined)
    throw new GatewayError('invalid_request', 'args: give the target too', { param: 'args' });
  return {
    ...(target === undefined ? {} : { target: targetOf(kind, target, args), byApi }),
    ...(name === undefined ? {} : { name }),
    ...(on === undefined ? {} : { on }),
    ...(where === undefined ? {} : { where }),
    ...(digest_seconds === undefined ? {} : { digestMs: digest_seconds * 1_000 }),
  };
}

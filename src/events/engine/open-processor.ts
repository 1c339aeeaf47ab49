import type { Listening } from '../../http/outbound/outbound.ts';
import type { Log } from '../../lib/log.ts';
import type { Channel } from '../channels/channel.ts';
import type { Trigger } from '../config/config.ts';
import { createForward } from '../processors/forward.ts';
import { createLogProcessor } from '../processors/log.ts';
import type { EventProcessor } from '../processors/processor.ts';
import { webhookKey } from '../processors/signature.ts';
import { createWebhook } from '../processors/webhook.ts';

export interface ProcessorInput {
  listening: Listening;
  log: Log;
  now: () => number;
  /** The value of an environment variable that the configuration names. */
  variable(name: string): string | undefined;
}

/**
 * Opens what a trigger hands its events to.
 * @param target the channel that a trigger of the kind `channel` names
 * @throws Error for a variable that is not set, or is no secret
 */
export function openProcessor(
  { id, processor }: Trigger,
  target: Channel | null,
  input: ProcessorInput,
): EventProcessor {
  const { listening, log, now, variable } = input;
  if (target !== null) return createForward(target);
  if (processor.kind === 'log') return createLogProcessor(id, log);
  return createWebhook({
    trigger: id,
    url: resolved(processor.name, id, variable),
    key: keyOf(id, input),
    listening,
    now,
  });
}

/** The address with the values of the variables that it names. */
function resolved(text: string, trigger: string, variable: ProcessorInput['variable']): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = variable(name);
    if (value === undefined)
      throw new Error(`trigger ${trigger}: the environment variable ${name} is not set`);
    return encodeURIComponent(value);
  });
}

/** The secret that signs what a trigger sends: `EVENTS_SECRET_` and its id in upper case, with `_` for what no name may have. */
function keyOf(trigger: string, { log, variable }: ProcessorInput): Buffer | null {
  const name = `EVENTS_SECRET_${trigger.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  const secret = variable(name);
  if (secret === undefined) {
    log.warn(
      { trigger, variable: name },
      'webhooks are not signed: set the variable to a secret, whsec_ and base64',
    );
    return null;
  }
  const key = webhookKey(secret);
  if (key === null) throw new Error(`${name} must be whsec_ and the base64 of 24 to 64 bytes`);
  return key;
}

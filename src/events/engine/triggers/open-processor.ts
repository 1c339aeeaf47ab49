import type { Listening } from '../../../http/outbound/outbound.ts';
import type { Log } from '../../../lib/log.ts';
import type { Channel } from '../../channels/channel.ts';
import type { Trigger } from '../../config/config.ts';
import type { ConsentCallbacks } from '../../processors/consent-callbacks.ts';
import { createForward } from '../../processors/forward.ts';
import { createLogProcessor } from '../../processors/log.ts';
import type { EventProcessor } from '../../processors/processor.ts';
import { serviceNamed } from '../../processors/services.ts';
import { webhookKey } from '../../processors/signature.ts';
import { createWebhook, type WebhookTarget } from '../../processors/webhook.ts';

export interface ProcessorInput {
  /** Where the services are declared. */
  dataDir: string;
  listening: Listening;
  log: Log;
  now: () => number;
  /** Where receivers of webhooks consent later. */
  consents: Pick<ConsentCallbacks, 'open'>;
  /** Whether webhooks that were set up through the API may reach loopback and private networks. Default false. */
  privateNetworks?: boolean;
  /** What triggers of the kind `gateway` hand their events to, by name; null when there is none. There is none when absent. */
  builtIn?(name: string): EventProcessor | null;
  /** The value of an environment variable that the configuration names. */
  variable(name: string): string | undefined;
}

/**
 * Opens what a trigger hands its events to.
 * @param target the channel that a trigger of the kind `channel` names
 * @throws Error for a variable that is not set, or what is not there
 */
export function openProcessor(
  trigger: Trigger,
  target: Channel | null,
  input: ProcessorInput,
): EventProcessor {
  const { id, processor } = trigger;
  if (target !== null) return createForward(target);
  switch (processor.kind) {
    case 'log':
      return createLogProcessor(id, input.log);
    case 'gateway': {
      const builtIn = input.builtIn?.(processor.name) ?? null;
      if (builtIn === null) throw new Error(`trigger ${id}: the gateway has no "${processor.name}"`);
      return builtIn;
    }
    case 'http':
    case 'service':
      return openWebhook(trigger, input);
    case 'function':
    case 'rpcservice':
    case 'channel':
      throw new Error(`trigger ${id}: the kind ${processor.kind} is not supported`);
  }
}

function openWebhook({ byApi, id, processor }: Trigger, input: ProcessorInput): EventProcessor {
  const { dataDir, listening, now } = input;
  // What the owner of the machine declared may be anywhere.
  const declared = !processor.name.includes('://');
  return createWebhook({
    ...(declared
      ? declaredTarget(processor.name, id, dataDir, input)
      : { url: resolved(processor.name, id, input, true) }),
    trigger: id,
    consents: input.consents,
    key: keyOf(id, input),
    listening,
    privateNetworks: declared || byApi !== true || input.privateNetworks === true,
    now,
  });
}

function declaredTarget(
  name: string,
  trigger: string,
  dataDir: string,
  input: ProcessorInput,
): WebhookTarget {
  const { authorization, callback, mode, origin, rate_per_minute, timeout_seconds, url } = serviceNamed(
    name,
    dataDir,
  );
  return {
    url: resolved(url, trigger, input, true),
    authorization: authorization === undefined ? null : resolved(authorization, trigger, input, false),
    origin: origin ?? null,
    callback: callback ?? null,
    ratePerMinute: rate_per_minute ?? null,
    ...(mode === undefined ? {} : { mode }),
    ...(timeout_seconds === undefined ? {} : { timeoutMs: timeout_seconds * 1_000 }),
  };
}

/**
 * A text with the values of the variables that it names.
 * @param encoded whether values stand in a URL
 */
function resolved(text: string, trigger: string, { variable }: ProcessorInput, encoded: boolean): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = variable(name);
    if (value === undefined)
      throw new Error(`trigger ${trigger}: the environment variable ${name} is not set`);
    return encoded ? encodeURIComponent(value) : value;
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

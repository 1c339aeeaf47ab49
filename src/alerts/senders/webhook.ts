import { webhookKey } from '../../events/processors/signature.ts';
import { createWebhook } from '../../events/processors/webhook.ts';
import type { Sender } from './sender.ts';
import type { SlackInput } from './slack.ts';

export interface WebhookSenderInput extends SlackInput {
  /** The id of the alert. */
  id: string;
  /** `whsec_…`, which signs what is sent; null signs nothing. */
  secret: string | null;
}

/** Posts the events themselves, signed (Standard Webhooks). */
export function createWebhookSender({ id, secret, ...input }: WebhookSenderInput): Sender {
  const key = secret === null ? null : webhookKey(secret);
  const webhook = createWebhook({ ...input, trigger: id, key });
  return {
    async send(event) {
      const outcome = await webhook.process(event);
      return { outcome, answer: outcome.kind === 'done' ? 'The receiver took it' : outcome.reason };
    },
    close: webhook.close,
  };
}

import type { Listening } from '../../http/outbound/outbound.ts';
import type { OpenAlert } from '../schema.ts';
import { createCommandSender } from './command.ts';
import { createEmailSender, type SmtpSettings } from './email.ts';
import type { Sender } from './sender.ts';
import { createSlackSender } from './slack.ts';
import { createWebhookSender } from './webhook.ts';

export interface SenderInput {
  dataDir: string;
  smtp: SmtpSettings | null;
  listening: Listening;
  /** Whether alerts that were set up through the API may reach loopback and private networks. */
  privateNetworks: boolean;
  /** Where commands find other programs. */
  path: string | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Opens what an alert sends by. Nothing is connected to before the first message. */
export function openSender({ byApi, id, secret, target }: OpenAlert, input: SenderInput): Sender {
  const { dataDir, listening, now, path, smtp } = input;
  const privateNetworks = !byApi || input.privateNetworks;
  if (target === null) return unreadable;
  switch (target.kind) {
    case 'webhook':
      return createWebhookSender({ id, secret, url: target.url, listening, privateNetworks, now });
    case 'slack':
      return createSlackSender({ url: target.url, listening, privateNetworks, now });
    case 'email':
      return createEmailSender({ to: target.to, smtp });
    case 'command':
      return createCommandSender({ file: target.file, args: target.args, folder: dataDir, path });
  }
}

const reason = 'The destination of this alert cannot be decrypted: the storage key is a different one';

/** The key may come back. */
const unreadable: Sender = {
  send: async () => ({
    outcome: { kind: 'retry', reason, status: null, afterMs: 60_000 },
    answer: reason,
  }),
  close: async () => {},
};

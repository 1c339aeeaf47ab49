import { createHttpSender, outcomeOf } from '../../events/processors/http-sender.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { type AlertMessage, messageOf } from '../message.ts';
import type { Sender } from './sender.ts';

export interface SlackInput {
  url: string;
  listening: Listening;
  privateNetworks: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

const TIMEOUT_MS = 10_000;

/** Posts to an incoming webhook of Slack, or of what takes the same (Mattermost, Discord's `/slack`). */
export function createSlackSender({ listening, now, privateNetworks, url }: SlackInput): Sender {
  const http = createHttpSender({ listening, privateNetworks, timeoutMs: TIMEOUT_MS });
  return {
    async send(event) {
      const answer = await http.send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ text: slackText(messageOf(event)) })),
      });
      const answerText =
        answer.kind === 'answered' ? `${answer.status} ${answer.text}`.trim() : answer.reason;
      return { outcome: outcomeOf(answer, now()), answer: answerText };
    },
    close: http.close,
  };
}

/** In Slack's markup, in which `&`, `<` and `>` of texts are escaped. */
function slackText({ facts, title }: AlertMessage): string {
  const lines = facts.map(([label, value]) => `*${escaped(label)}:* ${escaped(value)}`);
  return [`*${escaped(title)}*`, ...lines].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

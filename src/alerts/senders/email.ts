import { createHash } from 'node:crypto';
import type { Transporter } from 'nodemailer';
import type { CloudEvent } from '../../events/cloudevents/event.ts';
import type { ProcessorOutcome } from '../../events/processors/processor.ts';
import { type AlertMessage, messageOf, plainText } from '../message.ts';
import type { Sender } from './sender.ts';

/** How mail is sent. */
export interface SmtpSettings {
  /** `smtp://user:password@host:587`, or `smtps:` for TLS from the first byte. */
  readonly url: string;
  /** The address that mails come from. */
  readonly from: string;
}

export interface EmailInput {
  to: readonly string[];
  /** Null where none are set. */
  smtp: SmtpSettings | null;
}

const TIMEOUT_MS = 20_000;
const LONGEST_SUBJECT = 150;

/** Sends mails as plain text and as simple HTML. The package is loaded with the first. */
export function createEmailSender({ smtp, to }: EmailInput): Sender {
  let opened: Promise<Transporter> | null = null;
  return {
    async send(event) {
      if (smtp === null) return failed('No mail server is set: set SMTP_URL and SMTP_FROM');
      opened ??= openTransport(smtp.url);
      try {
        const transport = await opened;
        const info = await transport.sendMail(mailOf(event, smtp.from, to));
        return { outcome: { kind: 'done' }, answer: String(info.response) };
      } catch (error) {
        return outcomeOfFault(error);
      }
    },
    async close() {
      (await opened?.catch(() => null))?.close();
    },
  };
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function mailOf(event: CloudEvent, from: string, to: readonly string[]) {
  const message = messageOf(event);
  const { id, source } = event.attributes;
  const digest = createHash('sha256')
    .update(JSON.stringify([source, id]))
    .digest('hex');
  return {
    from,
    to: [...to],
    // One line: the library encodes it.
    subject: `[Modelgate] ${message.title}`.replace(/\s+/g, ' ').slice(0, LONGEST_SUBJECT),
    text: plainText(message),
    html: htmlOf(message),
    // The same at every attempt, so that mail programs show a repeated one once.
    messageId: `<${digest.slice(0, 40)}@modelgate>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function htmlOf({ facts, title }: AlertMessage): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><td style="padding:2px 12px 2px 0;color:#666">${escaped(label)}</td><td>${escaped(value)}</td></tr>`,
  );
  return `<p><strong>${escaped(title)}</strong></p>\n<table>\n${rows.join('\n')}\n</table>\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Refusals of 500 and above are for good (RFC 5321, section 4.2.1), but for one of the login: its owner may mend it. */
function outcomeOfFault(error: unknown) {
  const status =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? error.responseCode
      : null;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'none';
  const reason =
    status === null
      ? `The mail server was not reached: ${code}`
      : `The mail server answered with the status ${status}`;
  if (status !== null && status >= 500 && code !== 'EAUTH') return failed(reason, status);
  const outcome: ProcessorOutcome = { kind: 'retry', reason, status, afterMs: 0 };
  return { outcome, answer: reason };
}

function failed(reason: string, status: number | null = null) {
  const outcome: ProcessorOutcome = { kind: 'failed', reason, status };
  return { outcome, answer: reason };
}

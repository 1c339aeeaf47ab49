import { buildEvent } from '../events/types/own-event.ts';
import type { OpenAlert } from './schema.ts';
import { openSender, type SenderInput } from './senders/open.ts';

export interface AlertTest {
  readonly sent: boolean;
  /** What the receiver said, or why it was not reached. */
  readonly answer: string;
}

/** Sends a message to the receiver of an alert at once, without the event engine. Never throws. */
export async function testAlert(
  alert: OpenAlert,
  input: SenderInput & { instance: string },
): Promise<AlertTest> {
  const { instance, now } = input;
  const text = `This is a test of the alert "${alert.name}"`;
  const data = { alert_id: alert.id, alert: alert.name, text };
  const event = buildEvent('alerts', 'alert.test', { subject: alert.id, data }, { at: now(), instance });
  const sender = openSender(alert, input);
  try {
    const { answer, outcome } = await sender.send(event);
    return { sent: outcome.kind === 'done', answer };
  } finally {
    await sender.close();
  }
}

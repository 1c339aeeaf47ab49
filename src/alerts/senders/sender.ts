import type { CloudEvent } from '../../events/cloudevents/event.ts';
import type { ProcessorOutcome } from '../../events/processors/processor.ts';

/** What a receiver did with a message. */
export interface DeliveryResult {
  readonly outcome: ProcessorOutcome;
  /** The receiver's answer, shown when an alert is tested; never a secret of ours. */
  readonly answer: string;
}

/** Sends events to one receiver. Never throws. */
export interface Sender {
  send(event: CloudEvent): Promise<DeliveryResult>;
  close(): Promise<void>;
}

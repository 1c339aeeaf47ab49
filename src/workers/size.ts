import type { FinishedRequestDetails, WorkerEvent } from './message.ts';

/** About how many bytes an event of a worker has on its way to the owner. To count them would cost as much as to send them. */
export function sizeOf(event: WorkerEvent): number {
  switch (event.kind) {
    case 'finished':
      return event.finished.details.reduce(
        (sum, one) => sum + sizeOfDetails(one),
        event.finished.rows.length,
      );
    case 'access-logged':
      return event.lines.length;
    case 'counted':
      return 4_096;
    case 'response':
      return event.text.length;
    case 'logged':
      return event.line.length;
    case 'settled':
      return event.settlements.byteLength;
    case 'health-state':
    case 'limits':
    case 'session':
    case 'place':
    case 'load':
      return 256;
  }
}

function sizeOfDetails({ span, traceText }: FinishedRequestDetails): number {
  return (traceText?.length ?? 0) + (span === null ? 256 : 4_096);
}

import type { WorkerEvent } from './message.ts';

/** About how many bytes an event of a worker has on its way to the owner. To count them would cost as much as to send them. */
export function sizeOf(event: WorkerEvent): number {
  switch (event.kind) {
    case 'finished':
      return 4_096;
    case 'response':
      return event.text.length;
    case 'logged':
      return event.line.length;
    case 'http':
    case 'health-state':
    case 'limits':
    case 'session':
    case 'place':
    case 'settled':
    case 'returned':
    case 'load':
      return 256;
  }
}

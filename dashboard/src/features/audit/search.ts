import { type TimeRange, timeRanges } from '../../components/controls/time-range.tsx';
import { choiceParam, present, type RawSearch, textParam } from '../../lib/search-params.ts';

export const auditOutcomes = ['success', 'failure', 'denied', 'intended'] as const;
/** Where a text is looked for. */
export const auditPlaces = ['what', 'who', 'target', 'from'] as const;

export interface AuditSearch {
  q?: string;
  in?: (typeof auditPlaces)[number];
  outcome?: (typeof auditOutcomes)[number];
  /** Absent: all that is kept. */
  range?: TimeRange;
}

export function auditSearch(search: RawSearch): AuditSearch {
  return present({
    q: textParam(search, 'q'),
    in: choiceParam(search, 'in', auditPlaces),
    outcome: choiceParam(search, 'outcome', auditOutcomes),
    range: choiceParam(search, 'range', timeRanges),
  });
}

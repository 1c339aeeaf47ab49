import type { Condition } from './health-view.ts';
import type { ConditionRow } from './schema.ts';

/** A condition as it is shown. */
export function rowOfCondition(condition: Condition): ConditionRow {
  return {
    state: condition.state,
    until: 'until' in condition ? new Date(condition.until).toISOString() : null,
    reason: 'reason' in condition ? condition.reason : null,
  };
}

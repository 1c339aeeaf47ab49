import type { z } from 'zod';
import type { alertRow, OpenAlert } from './schema.ts';
import { maskedTarget } from './target.ts';

export type AlertRow = z.infer<typeof alertRow>;

/** An alert as it is shown, without its secrets. */
export function rowOfAlert(alert: OpenAlert): AlertRow {
  return {
    id: alert.id,
    name: alert.name,
    kind: alert.kind,
    target: maskedTarget(alert.target),
    on: [...alert.on],
    where: alert.where,
    digest_seconds: Math.round(alert.digestMs / 1_000),
    paused: alert.paused,
    created_at: new Date(alert.createdAt).toISOString(),
    updated_at: new Date(alert.updatedAt).toISOString(),
  };
}

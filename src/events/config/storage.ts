import {
  Persistence_FullStrategy as Full,
  type Persistence,
  Persistence_PersistenceType as Type,
} from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { type Checks, numberAtLeast } from './checks.ts';
import type { Storage } from './config.ts';

const mebibyte = 1_048_576;

/** Bytes of a storage whose size is not set, or 0. */
export const defaultBytes: Readonly<Record<Storage['type'], number>> = {
  memory: 16 * mebibyte,
  local: 1_024 * mebibyte,
  distributed: 1_024 * mebibyte,
};

/** @returns null when there is none, or something was reported */
export function checkStorage(message: Persistence | undefined, path: string, checks: Checks): Storage | null {
  if (message === undefined) return null;
  const type = typeOf(message.persistenceType);
  const whenFull = whenFullOf(message.fullStrategy);
  const bytes = numberAtLeast(message.persistenceSize, 0, `${path}.persistence_size`, checks);
  if (type === null)
    checks.report.error(
      `${path}.persistence_type`,
      'There is no such storage: it is MEMORY (0), LFS (1) or DFS (2)',
    );
  if (whenFull === null)
    checks.report.error(`${path}.full_strategy`, 'There is no such strategy: it is BLOCK (0) or DROP (1)');
  if (type === null || whenFull === null || bytes === null) return null;
  return { type, bytes: bytes === 0 ? defaultBytes[type] : bytes, whenFull };
}

function typeOf(type: Type): Storage['type'] | null {
  switch (type) {
    case Type.MEMORY:
      return 'memory';
    case Type.LFS:
      return 'local';
    case Type.DFS:
      return 'distributed';
    default:
      return null;
  }
}

function whenFullOf(strategy: Full): Storage['whenFull'] | null {
  switch (strategy) {
    case Full.BLOCK:
      return 'block';
    case Full.DROP:
      return 'drop';
    default:
      return null;
  }
}

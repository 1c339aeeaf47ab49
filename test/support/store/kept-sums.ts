import { keepMissing } from '../../../src/ledger/kept-sums/open.ts';
import type { Store } from '../../../src/store/database.ts';

/** Keeps all sums that are missing at a time, without an end to its turn: on a busy machine one turn is too short for them. */
export const keepAll = (store: Store, at: number): Promise<number> =>
  keepMissing(
    store,
    () => at,
    () => false,
    Number.POSITIVE_INFINITY,
  );

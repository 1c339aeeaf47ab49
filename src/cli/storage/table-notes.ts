import type { Io } from '../terminal/io.ts';
import { count } from '../terminal/text.ts';

/** Notes how far the tables of a store are that is copied into another. */
export function tableNotes(io: Pick<Io, 'note'>) {
  return (table: string, rows: number, done: boolean): void => {
    if (rows > 0) io.note(done ? `${table}: ${count(rows, 'row')}, all as they were` : `${table}: ${rows} …`);
  };
}
